package botengine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// nowhere is a chat service that nobody writes to.
type nowhere struct{}

func (nowhere) Snapshot(context.Context, runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{}, nil
}

func (nowhere) Jump(context.Context, runtime.Run, flow.Jump) (runtime.Start, error) {
	return runtime.Start{}, runtime.ErrNotFound
}

func (nowhere) SendTx(context.Context, runtime.Tx, runtime.Run, flow.Send) (string, error) {
	return "", errors.New("nobody is here")
}

func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB, s *botengine.Service)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, runtime.Migrate(t.Context(), db))
		require.NoError(t, botengine.Migrate(t.Context(), db))
		runs, err := runtime.New(t.Context(), db, nowhere{}, nil)
		require.NoError(t, err)
		s, err := botengine.New(t.Context(), db, runs, &botengine.Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		fn(t, db, s)
	})
}

// filled makes a bot of reference 7 with so many versions, and runs that wait.
func filled(t *testing.T, db *sqlx.DB, a *botengine.Account, n int64) botengine.Bot {
	t.Helper()
	bot, err := a.Bots().Create(t.Context(), botengine.NewBot{Reference: 7, Name: "Shop"})
	require.NoError(t, err)
	const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $n) `
	db.MustExec(`INSERT INTO flow_document (hash, body, created_us) VALUES ('none', '{}', 1) ON CONFLICT DO NOTHING`)
	for _, q := range []string{
		`INSERT INTO botengine_version (bot, version, document, hash, created_us) ` + number + `SELECT $b, i, '{}', 'filler', 1 FROM n`,
		`INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input,
			output, error, started_us, ended_us) ` + number +
			`SELECT $b || i, 'acme', 'botengine', $b, 1, 'none', 7, 'chat' || i, 'c', 'waiting', 'event', 'paid', '{}', 1, '{}', '', '', 1, 0 FROM n`,
	} {
		db.MustExec(strings.NewReplacer("$n", fmt.Sprint(n), "$b", "'"+bot.ID+"'").Replace(q))
	}
	return bot
}

// cancelled is how many runs were told to end.
func cancelled(t *testing.T, db *sqlx.DB) (n int64) {
	t.Helper()
	require.NoError(t, db.Get(&n, `SELECT count(DISTINCT run) FROM flow_input WHERE kind = 'cancel'`))
	return n
}

// maxRemoved is the most rows of one transaction of a deletion: 50 runs that are
// told to end, with what is written for each.
const maxRemoved = 200

// TestDeletionsAreBounded deletes ten times as much: the transactions become
// more, and none becomes larger.
func TestDeletionsAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB, s *botengine.Service) {
		a := s.For("acme")
		commits := testkit.ObserveCommits(t, db)
		for _, n := range []int64{70, 700} {
			bot := filled(t, db, a, n)
			commits.Take()
			require.NoError(t, a.Bots().Delete(t.Context(), bot.ID))
			commits.RequireBounded(t, 2*n, maxRemoved)
			require.Equal(t, n, cancelled(t, db))
			for _, remove := range []func() error{
				func() error { return a.DeleteReference(t.Context(), 7) },
				func() error { return a.DeleteAll(t.Context()) },
			} {
				filled(t, db, a, n)
				commits.Take()
				require.NoError(t, remove())
				commits.RequireBounded(t, n, maxRemoved)
			}
			var left int
			require.NoError(t, db.Get(&left, `SELECT (SELECT count(*) FROM botengine_bot) + (SELECT count(*) FROM botengine_version)`))
			require.Zero(t, left)
			db.MustExec(`DELETE FROM flow_input`)
			db.MustExec(`DELETE FROM flow_run`)
		}
	})
}

// TestDeletionIsContinued ends a deletion after each of its commits: the bot is not found, and goes when another one cleans up.
func TestDeletionIsContinued(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB, s *botengine.Service) {
		a := s.For("acme")
		for at := 1; ; at++ {
			bot := filled(t, db, a, 70)
			left := at
			ctx, kill := context.WithCancel(t.Context())
			require.NoError(t, database.Observe(t.Context(), db, func(int64) {
				if left--; left == 0 {
					kill()
				}
			}))
			require.NoError(t, a.Bots().Delete(ctx, bot.ID))
			kill()
			require.NoError(t, database.Observe(t.Context(), db, nil))
			_, err := a.Bots().Get(t.Context(), bot.ID)
			require.ErrorIs(t, err, botengine.ErrNotFound)
			require.ErrorIs(t, a.Bots().Delete(t.Context(), bot.ID), botengine.ErrNotFound)
			bots, err := a.Bots().List(t.Context(), nil, botengine.List{})
			require.NoError(t, err)
			require.Empty(t, bots.Items)
			require.NoError(t, s.Clean(t.Context()))
			require.EqualValues(t, 70, cancelled(t, db))
			db.MustExec(`DELETE FROM flow_input`)
			db.MustExec(`DELETE FROM flow_run`)
			require.Empty(t, testkit.Holding(t, db, bot.ID))
			if left > 0 {
				require.Greater(t, at, 6, "it has more commits than that")
				return
			}
		}
	})
}
