package runtime_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// fill stores so many runs of a chat that ended at a time, the zero time: that
// wait, each with four steps, a call and a timer, and as many inputs, routes and
// times at which a flow begins.
func (f *fixture) fill(db *sqlx.DB, n int64, ended time.Time) {
	const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $n) `
	db.MustExec(`INSERT INTO flow_document (hash, body, created_us) VALUES ('filler', '{}', 1) ON CONFLICT DO NOTHING`)
	const steps = `INSERT INTO flow_step (run, body) SELECT seq, '{}' FROM flow_run`
	for _, q := range []string{
		`INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input,
			output, error, started_us, ended_us) ` + number +
			`SELECT 'filler' || i, $a, 'aiflow', 'filler', 1, 'filler', $r, 'filler' || i, 'filler', 'waiting', '', '', '', 1, '{}', '', '', 1, $e FROM n`,
		steps, steps, steps, steps,
		`INSERT INTO flow_effect (run, effect, node, kind, once, idempotency_key, attempt, timeout_us, request, started_us, done_us, result, error)
			SELECT seq, '1', 'n', 'http', FALSE, '', 1, 1, '{}', 1, 1, '', '' FROM flow_run`,
		`INSERT INTO flow_timer (run, timer, at_us) SELECT seq, '1', 9000000000000000 FROM flow_run`,
		`INSERT INTO flow_input (inbox, reference, account, chat_id, run, after_run, kind, body, created_us) ` + number +
			`SELECT 'filler', $r, $a, 'filler', 0, 0, 'message', '{}', 1 FROM n`,
		`INSERT INTO flow_route (account, reference, chat_id, message, body, at_us) ` + number + `SELECT $a, $r, 'filler', 'filler' || i, '{}', 1 FROM n`,
		`INSERT INTO flow_schedule (account, engine, owner, version, reference, times, next_us) ` + number +
			`SELECT $a, 'aiflow', 'filler' || i, 1, $r, '[]', 9000000000000000 FROM n`,
	} {
		db.MustExec(strings.NewReplacer("$n", fmt.Sprint(n), "$a", "'"+account+"'", "$r", fmt.Sprint(line), "$e", fmt.Sprint(database.Micros(ended))).Replace(q))
	}
}

// maxErased is the most rows of one transaction that erases runs: 250 rows of
// their traces, or 20 runs.
const maxErased = 250

// TestDeletionsAreBounded erases ten times as much: the transactions become more,
// and none becomes larger.
func TestDeletionsAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, func(o *runtime.Options) { o.Retention = time.Hour })
		commits := testkit.ObserveCommits(t, db)
		for _, n := range []int64{70, 700} {
			for name, remove := range map[string]func() error{
				"chat": func() error {
					return f.acc.Erase(t.Context(), runtime.Erasure{Reference: line, ChatIDs: []string{"filler"}})
				},
				"reference": func() error { return f.acc.Erase(t.Context(), runtime.Erasure{Reference: line}) },
				"account":   func() error { return f.acc.DeleteAll(t.Context()) },
				"retention": func() error { return f.Prune(t.Context()) },
			} {
				ended := time.Time{}
				if name == "retention" {
					ended = f.clock.Now().Add(-2 * time.Hour)
				}
				f.fill(db, n, ended)
				commits.Take()
				require.NoError(t, remove(), name)
				commits.RequireBounded(t, 7*n, maxErased)
				var left int
				require.NoError(t, db.Get(&left, `SELECT (SELECT count(*) FROM flow_run) + (SELECT count(*) FROM flow_step) + (SELECT count(*) FROM flow_timer)`))
				require.Zero(t, left, name)
				require.NoError(t, f.acc.Unschedule(t.Context(), line))
				require.NoError(t, f.acc.DeleteAll(t.Context()))
				require.Empty(t, testkit.Holding(t, db, "filler"), name)
				commits.RequireBounded(t, 0, maxErased)
			}
			f.fill(db, n, time.Time{})
			commits.Take()
			require.NoError(t, f.acc.Forget(t.Context(), flow.EngineFlow, "filler", "deleted"))
			commits.RequireBounded(t, n, maxErased)
			require.NoError(t, f.acc.DeleteAll(t.Context()))
			db.MustExec(`DELETE FROM queue_partition`) // nobody works here
			db.MustExec(`DELETE FROM queue_job`)
		}
	})
}
