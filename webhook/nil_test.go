package webhook_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestNil passes nil where there must be a value: the error names the place.
func TestNil(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		secrets := []string{sealing}
		for _, c := range []struct {
			db    *sqlx.DB
			opts  *webhook.Options
			names string
		}{
			{nil, &webhook.Options{Secrets: secrets}, "*sqlx.DB is nil"},
			{db, nil, "Options.Secrets"},
			{db, &webhook.Options{Secrets: secrets, Formats: map[string]webhook.Format{"mine": nil}}, `Options.Formats["mine"] is nil`},
		} {
			_, err := webhook.New(t.Context(), c.db, c.opts)
			require.ErrorContains(t, err, c.names)
			require.ErrorContains(t, err, "webhook: ")
		}
		d, err := webhook.New(t.Context(), db, &webhook.Options{Secrets: secrets})
		require.NoError(t, err)
		event := webhook.Event{Account: "one", Scope: "shop", Type: "order.created", Body: []byte(`{}`)}
		for _, tx := range []webhook.Tx{nil, (*sql.Tx)(nil), (*sqlx.Tx)(nil)} {
			for name, call := range map[string]func(context.Context) error{
				"PublishTx": func(ctx context.Context) error { return d.PublishTx(ctx, tx, event) },
				"DeferTx":   func(ctx context.Context) error { return d.DeferTx(ctx, tx, "part", webhook.Deferred{Event: event}) },
				"ReleaseTx": func(ctx context.Context) error { return d.ReleaseTx(ctx, tx, "key", "awaits", nil) },
				"MergedTx":  func(ctx context.Context) error { return d.MergedTx(ctx, tx, "shop", "key", []string{"gone"}) },
				"ListenersTx": func(ctx context.Context) error {
					_, err := d.For("one").ListenersTx(ctx, tx, "order.created")
					return err
				},
			} {
				require.ErrorContains(t, call(t.Context()), "the transaction is nil", name)
			}
		}
	})
}
