package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

// telling is a flow that gives back when it was to begin.
func telling(t testing.TB) runtime.Source {
	t.Helper()
	return nodes(t, ``, `"first":{"type":"end","config":{"result":"{{ start.at }}"}}`)
}

// schedule has runs of a flow begin at times, given as lines of cron.
func (f *fixture) schedule(t testing.TB, owner string, version int64, references []int64, times ...string) {
	t.Helper()
	s := runtime.Scheduled{Engine: flow.EngineFlow, Owner: owner, Version: version, References: references}
	for _, cron := range times {
		s.Times = append(s.Times, flow.Schedule{Cron: cron, Timezone: "Europe/Berlin"})
	}
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.acc.ScheduleTx(t.Context(), tx, s) }))
}

// ended are the outputs of all runs of a flow, the oldest first, once there
// are so many.
func (f *fixture) ended(t testing.TB, owner string, n int) []string {
	t.Helper()
	var out []string
	f.until(t, func() bool {
		page, err := f.acc.Runs(t.Context(), runtime.Filter{Owner: owner, Status: runtime.Completed, Limit: 200})
		require.NoError(t, err)
		out = nil
		for _, run := range page.Items {
			var at string
			require.NoError(t, json.Unmarshal(run.Output, &at))
			out = append([]string{at}, out...)
		}
		return len(out) >= n
	})
	return out
}

// next is when a flow begins next; zero: never.
func (f *fixture) next(t testing.TB, owner string) (next time.Time) {
	t.Helper()
	var us []int64
	require.NoError(t, f.raw.SelectContext(t.Context(), &us, `SELECT next_us FROM flow_schedule WHERE owner = $1`, owner))
	if len(us) > 0 {
		next = database.Time(us[0])
	}
	return next
}

// TestSchedules begins runs at their times, and none after what ends that.
func TestSchedules(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil) // at noon in Greenwich
		f.shelf.add(t, "report", telling(t))
		f.schedule(t, "report", 1, []int64{0}, "30 13 * * *", "30 13,14 * * *")
		f.clock.Advance(29 * time.Minute)
		require.Empty(t, f.ended(t, "report", 0))
		f.clock.Advance(time.Minute)
		require.Equal(t, []string{"2026-03-01T13:30:00+01:00"}, f.ended(t, "report", 1), "once, although two of its times come")
		f.clock.Advance(time.Hour)
		require.Len(t, f.ended(t, "report", 2), 2)

		f.schedule(t, "report", 2, []int64{0}, "0 16 * * *") // it is published again
		require.Equal(t, epoch.Add(3*time.Hour), f.next(t, "report").UTC())
		f.clock.Advance(2 * time.Hour)
		require.Equal(t, "2026-03-01T16:00:00+01:00", f.ended(t, "report", 3)[2])
		f.schedule(t, "report", 2, nil, "0 16 * * *")
		require.Zero(t, f.next(t, "report"), "it does not listen any more")
		f.schedule(t, "report", 2, []int64{0}, "0 0 31 2 *")
		require.Zero(t, f.next(t, "report"), "a time that never comes")

		f.schedule(t, "report", 2, []int64{line, line + 1}, "0 18 * * *")
		require.NoError(t, f.acc.Unschedule(t.Context(), line+1))
		f.clock.Advance(2 * time.Hour)
		f.ended(t, "report", 4)
		page, err := f.acc.Runs(t.Context(), runtime.Filter{Reference: line})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		run := page.Items[0]
		require.Equal(t, runtime.Chat{Account: account, Reference: line}, run.Chat)
		require.EqualValues(t, 2, run.Version)
		require.JSONEq(t, `{"type":"schedule","cron":"0 18 * * *","timezone":"Europe/Berlin","at":"2026-03-01T18:00:00+01:00"}`, string(run.Input))
		require.NoError(t, f.acc.DeleteAll(t.Context()))
		require.Zero(t, f.next(t, "report"))
	})
}

// TestSchedulesMissed makes up for the last time that passed while no node
// ran, unless that is long ago.
func TestSchedulesMissed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		for _, owner := range []string{"often", "daily", "monthly"} {
			f.shelf.add(t, owner, telling(t))
		}
		f.schedule(t, "often", 1, []int64{0}, "* * * * *")
		f.schedule(t, "daily", 1, []int64{0}, "0 23 * * *")
		f.schedule(t, "monthly", 1, []int64{0}, "0 0 2 * *")
		f.schedule(t, "unknown", 1, []int64{0}, "* * * * *") // cannot be begun
		f.clock.Advance(3*24*time.Hour - time.Minute/2)
		f.start(t)
		require.Equal(t, []string{"2026-03-04T12:59:00+01:00"}, f.ended(t, "often", 1))
		require.Equal(t, []string{"2026-03-03T23:00:00+01:00"}, f.ended(t, "daily", 1))
		f.until(t, func() bool { return f.next(t, "monthly").After(f.clock.Now()) })
		require.Empty(t, f.ended(t, "monthly", 0))
		f.until(t, func() bool { return f.next(t, "unknown").After(f.clock.Now()) }) // it is in nobody's way
		f.clock.Advance(time.Minute)
		require.Len(t, f.ended(t, "often", 2), 2)
	})
}

// TestSchedulesOnSeveralNodes has two nodes look for a hundred flows that are
// to begin at the same minutes: each begins once each time.
func TestSchedulesOnSeveralNodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const flows, minutes = 130, 4
		f := setup(t, db, nil)
		other := setup(t, db, func(o *runtime.Options) { o.Now = f.clock.Now })
		for i := range flows {
			owner := fmt.Sprint("f", i)
			f.shelf.add(t, owner, telling(t))
			other.shelf.add(t, owner, telling(t))
			f.schedule(t, owner, 1, []int64{0}, "* * * * *")
		}
		f.start(t)
		other.start(t)
		for m := range minutes {
			f.clock.Advance(time.Minute)
			f.until(t, func() bool {
				var runs int
				require.NoError(t, f.raw.GetContext(t.Context(), &runs, `SELECT count(*) FROM flow_run WHERE ended_us > 0`))
				require.LessOrEqual(t, runs, flows*(m+1))
				return runs == flows*(m+1)
			})
		}
		var twice int
		require.NoError(t, f.raw.GetContext(t.Context(), &twice, `SELECT count(*) FROM (SELECT owner, output FROM flow_run GROUP BY owner, output HAVING count(*) > 1) x`))
		require.Zero(t, twice)
	})
}

// TestSchedulesCostOneLook finds what is due among 10,000 schedules by an
// index, whatever their number.
func TestSchedulesCostOneLook(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for i := range 10_000 {
				_, err := tx.ExecContext(t.Context(), `INSERT INTO flow_schedule (account, engine, owner, version, reference, times, next_us)
					VALUES ($1, $2, $3, 1, 0, '[]', $4)`, account, flow.EngineFlow, fmt.Sprint(i), database.Micros(epoch)+int64(i))
				if err != nil {
					return err
				}
			}
			return nil
		}))
		if db.DriverName() != "sqlite" {
			_, err := db.ExecContext(t.Context(), `ANALYZE flow_schedule`)
			require.NoError(t, err)
		}
		require.Contains(t, plan(t, db, `SELECT id FROM flow_schedule WHERE next_us <= 5 ORDER BY next_us LIMIT 100`), "flow_schedule_next")
	})
}

// plan is how the database carries out a statement.
func plan(t testing.TB, db *sqlx.DB, statement string) string {
	t.Helper()
	var lines []string
	if db.DriverName() != "sqlite" {
		require.NoError(t, db.SelectContext(t.Context(), &lines, `EXPLAIN `+statement))
		return strings.Join(lines, "\n")
	}
	var steps []struct {
		ID, Parent, Notused int64
		Detail              string
	}
	require.NoError(t, db.SelectContext(t.Context(), &steps, `EXPLAIN QUERY PLAN `+statement))
	for _, s := range steps {
		lines = append(lines, s.Detail)
	}
	return strings.Join(lines, "\n")
}
