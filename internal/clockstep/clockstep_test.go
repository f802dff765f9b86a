package clockstep_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

var quiet = slog.New(slog.DiscardHandler)

// waiting is a table with rows that wait, in seconds from now.
func waiting(t *testing.T, db *sqlx.DB, seconds ...int64) *database.DB {
	t.Helper()
	require.NoError(t, clockstep.Migrate(t.Context(), db))
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE wait (n BIGINT NOT NULL, until_us BIGINT NOT NULL)`)
	for n, s := range seconds {
		_, err := db.ExecContext(t.Context(), `INSERT INTO wait (n, until_us) VALUES ($1, `+d.Dialect.Now()+` + $2)`, n, s*1e6)
		require.NoError(t, err)
	}
	return d
}

// left returns how many seconds each row still waits, in their order.
func left(t *testing.T, d *database.DB) (seconds []float64) {
	t.Helper()
	require.NoError(t, d.SelectContext(t.Context(), &seconds, `SELECT (until_us - `+d.Dialect.Now()+`) / 1000000.0 FROM wait ORDER BY n`))
	return seconds
}

func watch(t *testing.T, d *database.DB, where string) {
	t.Helper()
	clockstep.Register(d, "wait", clockstep.Column("wait", "until_us", where))
	clockstep.Register(d, "wait", clockstep.Column("wait", "until_us", where)) // another service of its kind
	clockstep.Watch(t.Context(), d, quiet)
}

func TestWatch_SetBack(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := waiting(t, db, -10, 0, 600)
		watch(t, d, "")
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.NoError(t, testkit.StepClock(t.Context(), db, -time.Hour))
		for range 2 { // the second finds nothing
			require.NoError(t, clockstep.Check(t.Context(), d))
			s := left(t, d)
			require.LessOrEqual(t, s[0], 0.0)
			require.LessOrEqual(t, s[1], 0.0)
			require.InDelta(t, 600, s[2], 60)
		}
		require.EqualValues(t, 1, clockstep.Steps(d))
	})
}

// TestWatch_SetForward leaves what waits alone: it waits for less.
func TestWatch_SetForward(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := waiting(t, db, 60, 7200)
		watch(t, d, "")
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.NoError(t, testkit.StepClock(t.Context(), db, time.Hour))
		require.NoError(t, clockstep.Check(t.Context(), d))
		s := left(t, d)
		require.Negative(t, s[0])
		require.InDelta(t, 3600, s[1], 60)
		require.Zero(t, clockstep.Steps(d))
	})
}

func TestWatch_LeavesSmallSteps(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := waiting(t, db, 600)
		watch(t, d, "")
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.NoError(t, testkit.StepClock(t.Context(), db, -time.Second))
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.Zero(t, clockstep.Steps(d))
	})
}

// TestWatch_LeavesOthers moves only the rows of a condition.
func TestWatch_LeavesOthers(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := waiting(t, db, 0, 0)
		watch(t, d, "n = 1")
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.NoError(t, testkit.StepClock(t.Context(), db, -time.Hour))
		require.NoError(t, clockstep.Check(t.Context(), d))
		s := left(t, d)
		require.InDelta(t, 3600, s[0], 60)
		require.LessOrEqual(t, s[1], 0.0)
	})
}

// TestWatch_ByItself finds a step that happened while no process ran.
func TestWatch_ByItself(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := waiting(t, db, 0)
		require.NoError(t, clockstep.Check(t.Context(), d))
		require.NoError(t, testkit.StepClock(t.Context(), db, -24*time.Hour))
		moved := make(chan clockstep.Step, 1)
		clockstep.Register(d, "wait", func(_ context.Context, _ *database.Tx, s clockstep.Step) error {
			moved <- s
			return nil
		})
		clockstep.Watch(t.Context(), d, quiet)
		s := <-moved
		require.InDelta(t, 24*time.Hour, s.By(), float64(time.Minute))
	})
}

// TestWatch_OneOfTwo has two nodes find the same step: one of them moves what waits.
func TestWatch_OneOfTwo(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	db := testkit.Open(t, url)
	first := waiting(t, db, 600)
	second, err := database.Of(t.Context(), testkit.Open(t, url))
	require.NoError(t, err)
	require.NoError(t, clockstep.Check(t.Context(), first))
	require.NoError(t, testkit.StepClock(t.Context(), db, -time.Hour))
	both := make(chan error, 2)
	for _, d := range []*database.DB{first, second} {
		watch(t, d, "")
		go func() { both <- clockstep.Check(t.Context(), d) }()
	}
	require.NoError(t, <-both)
	require.NoError(t, <-both)
	require.InDelta(t, 600, left(t, first)[0], 60)
	require.EqualValues(t, 1, clockstep.Steps(first)+clockstep.Steps(second))
}

// TestNow_FollowsSteps has the clock of nodes show no time after a step that it did not
// show before: what waits would be over.
func TestNow_FollowsSteps(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	set := testkit.PostgresClock(t, url)
	d := waiting(t, testkit.Open(t, url), 600)
	now := clockstep.Now(t.Context(), d)
	watch(t, d, "")
	for _, step := range []time.Duration{-time.Hour, 3 * time.Hour, -time.Hour} {
		require.NoError(t, clockstep.Check(t.Context(), d))
		set(step)
		require.NoError(t, clockstep.Check(t.Context(), d))
		var us int64
		require.NoError(t, d.GetContext(t.Context(), &us, `SELECT `+d.Dialect.Now()))
		require.InDelta(t, us, database.Micros(now()), float64(10*time.Second/time.Microsecond), step)
	}
}

func TestSightings(t *testing.T) {
	t.Parallel()
	s := clockstep.Sightings[string]{Rounds: 3}
	look := func(values map[string]int64) map[string]bool { return s.Look(values) }
	require.Empty(t, look(map[string]int64{"a": 1, "b": 1}))
	require.Empty(t, look(map[string]int64{"a": 1, "b": 2}))
	require.Equal(t, map[string]bool{"a": true}, look(map[string]int64{"a": 1, "b": 2}))
	require.Empty(t, look(map[string]int64{"b": 3})) // a is gone
	require.Empty(t, look(map[string]int64{"a": 1, "b": 3}))
	s.Forget()
	require.Empty(t, look(map[string]int64{"a": 1, "b": 3}))
}
