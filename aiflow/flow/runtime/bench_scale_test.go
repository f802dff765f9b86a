package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// BenchmarkSteps has one run take 100, 1,000 and 10,000 steps: a loop in a
// loop, whose nodes set variables. It reports the processor's time of a step,
// the database's included, how much is allocated for one, how large the state
// was at last, and what it takes to show the run.
func BenchmarkSteps(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		f := running(b, db, nil)
		for _, steps := range []int{100, 1_000, 10_000} {
			b.Run(strconv.Itoa(steps), func(b *testing.B) { benchmarkSteps(b, f, steps) })
		}
	})
}

func benchmarkSteps(b *testing.B, f *fixture, steps int) {
	src := nodes(b, `"n":{"type":"integer","default":0},"text":{"type":"string"}`, `
		"first":{"type":"loop","config":{"kind":"count","times":"start.rounds","max":1000,"index":"round"},"next":{"body":"inner","done":"end"}},
		"inner":{"type":"loop","config":{"kind":"count","times":"24"},"next":{"body":"add"}},
		"add":{"type":"set","config":{"assign":[{"var":"n","op":"increment"}]},"next":{"out":"write"}},
		"write":{"type":"set","config":{"assign":[{"var":"text","value":"This is round {{ round }}, {{ index }}."}]},"next":{"out":"look"}},
		"look":{"type":"condition","config":{"branches":[{"id":"never","when":"vars.n < 0"}]}},
		"end":{"type":"end","config":{"result":"{{ vars.n }}"}}`)
	run := func() runtime.Run {
		r, err := f.acc.Start(b.Context(), runtime.Start{
			Engine: flow.EngineFlow, Owner: "steps", Version: 1, Source: src, Input: map[string]any{"rounds": steps / 100}, Wait: patient,
		})
		require.NoError(b, err)
		require.Equal(b, runtime.Completed, r.Status)
		return r
	}
	last := run()
	before := testkit.CPUTime(b)
	b.ReportAllocs()
	for b.Loop() {
		last = run()
	}
	taken := float64(b.N * steps)
	b.ReportMetric(float64((testkit.CPUTime(b)-before).Nanoseconds())/1000/taken, "cpu-µs/step")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/taken, "µs/step")
	started := time.Now()
	d, err := f.acc.Detail(b.Context(), last.ID)
	require.NoError(b, err)
	require.LessOrEqual(b, len(d.Steps), 1000)
	b.ReportMetric(float64(time.Since(started).Microseconds())/1000, "ms/detail")
	var kept, rows int
	require.NoError(b, f.raw.GetContext(b.Context(), &kept, `SELECT length(state) FROM flow_run WHERE id = $1`, last.ID))
	require.NoError(b, f.raw.GetContext(b.Context(), &rows, `SELECT count(*) FROM flow_step s JOIN flow_run r ON r.seq = s.run WHERE r.id = $1`, last.ID))
	b.ReportMetric(float64(kept), "state-bytes")
	b.ReportMetric(float64(rows), "trace-rows")
}

// BenchmarkWaiting resumes runs while 10,000 wait, and while as many do as the
// environment's WAITING says (20,000), each in a chat of its own with a timer,
// on PostgreSQL. It reports the median time to resume one after the
// other, and the processor's time of each in a crowd; and both of what they are
// with few.
func BenchmarkWaiting(b *testing.B) {
	const few = 10_000
	many, err := strconv.Atoi(os.Getenv("WAITING"))
	if err != nil {
		many = 2 * few
	}
	db := testkit.Open(b, testkit.PostgresURL(b))
	f := running(b, db, nil)
	src := nodes(b, `"name":{"type":"string"},"list":{"type":"list","default":["some","things","that","it","keeps"]}`, `
		"first":{"type":"question","config":{"prompt":{"text":"Who?"},"saveTo":"name","timeout":"P30D"},"next":{"out":"first","timeout":"first"}}`)
	run := f.begin(b, "pattern", src)
	crowd(b, db, run.ID, 1, few)
	before := resuming(b, f, few)
	crowd(b, db, run.ID, few+1, many)
	var after cost
	for b.Loop() {
		after = resuming(b, f, many)
	}
	b.ReportMetric(float64(after.alone.Microseconds()), "µs/resume")
	b.ReportMetric(float64(after.cpu.Microseconds()), "cpu-µs/resume")
	b.ReportMetric(float64(after.alone)/float64(before.alone), "of-few")
	b.ReportMetric(float64(after.cpu)/float64(before.cpu), "cpu-of-few")
	b.ReportMetric(0, "ns/op")
}

// crowd makes runs that wait as one does, with timers.
func crowd(b *testing.B, db *sqlx.DB, pattern string, from, to int) {
	b.Helper()
	for _, text := range []string{
		`INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input, output, error, started_us, ended_us)
			SELECT 'run-' || g, account, engine, owner, version, document, reference, reference || ':c' || g, 'c' || g, status, waits, event, state, turn, input, output, error, started_us, ended_us
			FROM flow_run, generate_series(CAST($1 AS BIGINT), $2) g WHERE id = $3 ORDER BY g`,
		`INSERT INTO flow_timer (run, timer, at_us) SELECT n.seq, t.timer, t.at_us + g FROM flow_timer t JOIN flow_run r ON r.seq = t.run,
			generate_series(CAST($1 AS BIGINT), $2) g JOIN flow_run n ON n.id = 'run-' || g WHERE r.id = $3`,
	} {
		_, err := db.ExecContext(b.Context(), text, from, to, pattern)
		require.NoError(b, err)
	}
	for _, table := range []string{"flow_run", "flow_timer", "flow_input"} {
		_, err := db.ExecContext(b.Context(), `VACUUM ANALYZE `+table)
		require.NoError(b, err)
	}
}

// cost is what it takes to resume a run: the median time of one after the
// other, and the processor's when many are resumed at once.
type cost struct{ alone, cpu time.Duration }

func resuming(b *testing.B, f *fixture, waiting int) cost {
	b.Helper()
	const alone, together, times = 200, 500, 4
	chat := func() string { return fmt.Sprint("c", 1+rand.IntN(waiting)) }
	var out cost
	var duration []time.Duration
	for range alone {
		started := time.Now()
		_, err := f.acc.Reply(b.Context(), "run-"+chat()[1:], map[string]any{"id": "m", "type": "text", "text": "Ana"})
		require.NoError(b, err)
		duration = append(duration, time.Since(started))
	}
	slices.Sort(duration)
	out.alone = duration[alone/2]
	before := testkit.CPUTime(b)
	for range times {
		require.NoError(b, f.db.InTx(b.Context(), func(tx *database.Tx) error {
			for range together {
				if err := f.IncomingTx(b.Context(), tx, incoming(chat(), "Ana")); err != nil {
					return err
				}
			}
			return nil
		}))
		f.until(b, func() bool {
			var left int
			require.NoError(b, f.raw.GetContext(b.Context(), &left, `SELECT count(*) FROM flow_input`))
			return left == 0
		})
	}
	out.cpu = (testkit.CPUTime(b) - before) / (together * times)
	return out
}
