package aiflow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// maxRemoved is the most rows of one transaction of a deletion: 200 small ones,
// or 50 runs that are told to end, with what is written for each.
const maxRemoved = 200

// fill gives a flow so many versions, references, times at which it begins, and runs
// that wait.
func (f *fixture) fill(t *testing.T, id string, n int64) {
	t.Helper()
	const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $n) `
	f.db.MustExec(`INSERT INTO flow_document (hash, body, created_us) VALUES ('none', '{}', 1) ON CONFLICT DO NOTHING`)
	for _, q := range []string{
		`INSERT INTO aiflow_version (flow, version, document, hash, functions, created_us) ` + number + `SELECT $f, 1000 + i, '{}', 'filler', '[]', 1 FROM n`,
		`INSERT INTO aiflow_binding (flow, account, reference, enabled) ` + number + `SELECT $f, 'acme', 1000 + i, TRUE FROM n`,
		`INSERT INTO flow_schedule (account, engine, owner, version, reference, times, next_us) ` + number +
			`SELECT 'acme', 'aiflow', $f, 1, 1000 + i, '[]', 9000000000000000 FROM n`,
		`INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input,
			output, error, started_us, ended_us) ` + number +
			`SELECT $f || i, 'acme', 'aiflow', $f, 1, 'none', 0, 'run:' || $f || i, '', 'waiting', 'event', 'paid', '{}', 1, '{}', '', '', 1, 0 FROM n`,
	} {
		f.db.MustExec(strings.NewReplacer("$n", fmt.Sprint(n), "$f", "'"+id+"'").Replace(q))
	}
}

// cancelled is how many runs of a flow were told to end.
func (f *fixture) cancelled(t *testing.T, id string) (n int64) {
	t.Helper()
	require.NoError(t, f.db.Get(&n, `SELECT count(*) FROM flow_input WHERE kind = 'cancel' AND run IN (SELECT seq FROM flow_run WHERE owner = '`+id+`')`))
	return n
}

// TestDeletionsAreBounded deletes ten times as much: the transactions become
// more, and none becomes larger.
func TestDeletionsAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		commits := testkit.ObserveCommits(t, f.db)
		for _, n := range []int64{70, 700} {
			project := f.project(t, "Shop")
			one := f.published(t, project, plain("one"))
			f.fill(t, one.ID, n)
			commits.Take()
			require.NoError(t, f.Flows().Delete(t.Context(), one.ID))
			commits.RequireBounded(t, 4*n, maxRemoved)
			require.Equal(t, n, f.cancelled(t, one.ID))

			for i := range n / 10 {
				f.flow(t, project, plain(fmt.Sprintf("f%d", i)))
			}
			two := f.published(t, project, plain("two"))
			f.fill(t, two.ID, n)
			commits.Take()
			require.NoError(t, f.Projects().Delete(t.Context(), project))
			commits.RequireBounded(t, 4*n+2*n/10, maxRemoved)
			require.Equal(t, n, f.cancelled(t, two.ID))

			three := f.published(t, f.project(t, "Shop"), plain("three"))
			f.fill(t, three.ID, n)
			commits.Take()
			require.NoError(t, f.DeleteAll(t.Context()))
			commits.RequireBounded(t, 2*n, maxRemoved)
			for _, table := range []string{"aiflow_project", "aiflow_flow", "aiflow_version", "aiflow_binding"} {
				var left int
				require.NoError(t, f.db.Get(&left, `SELECT count(*) FROM `+table))
				require.Zero(t, left, table)
			}
			f.db.MustExec(`DELETE FROM flow_schedule`)
		}
	})
}

// TestDeletionIsContinued ends a deletion after each of its commits: what was deleted is not found, and goes when another one
// cleans up.
func TestDeletionIsContinued(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		for at := 1; ; at++ {
			project := f.project(t, "Shop")
			main := f.published(t, project, plain("main"))
			f.fill(t, main.ID, 70)
			left := at
			ctx, kill := context.WithCancel(t.Context())
			require.NoError(t, database.Observe(t.Context(), f.db, func(int64) {
				if left--; left == 0 {
					kill()
				}
			}))
			require.NoError(t, f.Projects().Delete(ctx, project))
			kill()
			require.NoError(t, database.Observe(t.Context(), f.db, nil))
			_, err := f.Projects().Get(t.Context(), project)
			require.ErrorIs(t, err, aiflow.ErrNotFound)
			_, err = f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "Late"})
			require.ErrorIs(t, err, aiflow.ErrNotFound)
			if at > 1 {
				_, err = f.Flows().Get(t.Context(), main.ID)
				require.ErrorIs(t, err, aiflow.ErrNotFound)
				_, err = f.Runs().Start(t.Context(), aiflow.Start{Flow: main.ID})
				require.ErrorIs(t, err, aiflow.ErrNotFound)
				flows, err := f.Flows().List(t.Context(), "", aiflow.List{})
				require.NoError(t, err)
				require.Empty(t, flows.Items)
			}
			require.NoError(t, f.Clean(t.Context()))
			require.GreaterOrEqual(t, f.cancelled(t, main.ID), int64(70))
			require.Empty(t, f.scheduled(t, main.ID))
			f.db.MustExec(`DELETE FROM flow_input`)
			f.db.MustExec(`DELETE FROM flow_run`)
			require.Empty(t, testkit.Holding(t, f.db, project))
			if left > 0 {
				require.Greater(t, at, 10, "it has more commits than that")
				return
			}
		}
	})
}

// TestElsewhereIsTriedAgain: what belongs to a flow elsewhere and cannot be
// removed for now is asked for again.
func TestElsewhereIsTriedAgain(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		var asked []string
		fails := true
		flows, err := aiflow.New(t.Context(), f.db, &aiflow.Options{Runs: f.runs, Deleted: func(_ context.Context, account, flow string) error {
			asked = append(asked, account+" "+flow)
			if fails {
				return fmt.Errorf("not now")
			}
			return nil
		}})
		require.NoError(t, err)
		made := f.flow(t, f.project(t, "Shop"), plain("main"))
		require.NoError(t, flows.For("acme").Flows().Delete(t.Context(), made.ID))
		require.Error(t, flows.Clean(t.Context()))
		fails = false
		require.NoError(t, flows.Clean(t.Context()))
		require.NoError(t, flows.Clean(t.Context()))
		require.Equal(t, []string{"acme " + made.ID, "acme " + made.ID, "acme " + made.ID}, asked)
		require.Empty(t, testkit.Holding(t, f.db, made.ID))
	})
}
