package messaging_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// TestNil passes nil where there must be a value: the error names the place.
func TestNil(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		for _, c := range []struct {
			db    *sqlx.DB
			opts  *messaging.Options
			names string
		}{
			{nil, nil, "*sqlx.DB is nil"},
			{&sqlx.DB{}, nil, "*sqlx.DB is nil"},
			{db, &messaging.Options{Providers: []provider.Provider{sandbox.New(), nil}}, "Options.Providers[1] is nil"},
			{db, &messaging.Options{Sinks: []messaging.Sink{nil}}, "Options.Sinks[0] is nil"},
			{db, &messaging.Options{Erasers: []messaging.Eraser{nil}}, "Options.Erasers[0] is nil"},
		} {
			_, err := messaging.New(t.Context(), c.db, c.opts)
			require.ErrorContains(t, err, c.names)
			require.ErrorContains(t, err, "messaging: ")
		}
		svc, err := messaging.New(t.Context(), db, nil)
		require.NoError(t, err, "no options are the defaults")
		acc := svc.For(messaging.OneAccount)
		for _, tx := range []messaging.Tx{nil, (*sql.Tx)(nil), (*sqlx.Tx)(nil), &sqlx.Tx{}} {
			for name, call := range map[string]func(context.Context) error{
				"SendTx":            func(ctx context.Context) error { _, err := acc.SendTx(ctx, tx, messaging.SendRequest{}); return err },
				"PublishTx":         func(ctx context.Context) error { return svc.PublishTx(ctx, tx) },
				"BatchTx":           func(context.Context) error { _, err := svc.BatchTx(tx); return err },
				"InboundMessagesTx": func(ctx context.Context) error { _, err := svc.InboundMessagesTx(ctx, tx, nil); return err },
				"UpdateChatTx": func(ctx context.Context) error {
					_, err := acc.UpdateChatTx(ctx, tx, 1, "111", messaging.ChatChange{})
					return err
				},
				"ChatTx": func(ctx context.Context) error { _, err := acc.ChatTx(ctx, tx, 1, "111"); return err },
				"ExtractedTx": func(ctx context.Context) error {
					_, _, err := acc.ExtractedTx(ctx, tx, 1, "111", "m1", nil)
					return err
				},
			} {
				require.ErrorContains(t, call(t.Context()), "the transaction is nil", name)
			}
		}
	})
}
