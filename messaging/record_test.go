package messaging_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// recorder writes each entry with a statement.
type recorder struct{ actions []audit.Action }

func (r *recorder) RecordTx(ctx context.Context, tx database.Executor, e audit.Record) error {
	r.actions = append(r.actions, e.Action)
	_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET name = name WHERE id = $1`, e.Reference)
	return err
}

// TestMessagesAreNotRecorded: a send and a receipt ask the database for the same
// with a recorder as without.
func TestMessagesAreNotRecorded(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		counted, asked := testkit.Counting(t, db)
		f := setup(t, counted, config{idle: true})
		ref, to := f.reference(t, testKind), &recorder{}
		recorded := audit.As(audit.With(t.Context(), to, audit.Origin{}), audit.Actor{Account: messaging.OneAccount, Kind: audit.Token})
		f.receive(t, ref, text("0", "491512345", "Hello"))
		costs := func(do func()) int64 {
			before := asked.Statements.Load()
			do()
			return asked.Statements.Load() - before
		}
		for name, do := range map[string]func(ctx context.Context, id string){
			"send": func(ctx context.Context, id string) {
				_, err := f.acc.Send(ctx, messaging.SendRequest{Reference: ref, ChatID: "491512345", Content: provider.Text{Text: id}})
				require.NoError(t, err)
			},
			"receipt": func(ctx context.Context, id string) {
				require.NoError(t, f.svc.Receive(ctx, ref, []provider.Event{text(id, "491512345", id)}))
			},
		} {
			without, with := int64(math.MaxInt64), int64(math.MaxInt64)
			for i := range 8 { // the least of them: what waits is at times done in passing
				without = min(without, costs(func() { do(t.Context(), fmt.Sprint(name, " without ", i)) }))
				with = min(with, costs(func() { do(recorded, fmt.Sprint(name, " with ", i)) }))
			}
			require.Positive(t, without, name)
			if db.DriverName() == "sqlite" { // PostgreSQL is also asked by those who listen
				require.Equal(t, without, with, name)
			}
		}
		require.Empty(t, to.actions)
		_, err := f.acc.UpdateChat(recorded, ref, "491512345", messaging.ChatChange{Tags: []string{"vip"}})
		require.NoError(t, err)
		require.Equal(t, []audit.Action{audit.ChatUpdate}, to.actions, "else nothing would be recorded at all")
	})
}
