package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestStatementsFail has each statement fail of each operation: the operation fails,
// and then it can be done.
func TestStatementsFail(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, webhook.Migrate(t.Context(), db))
		seen, asked := testkit.Counting(t, db)
		rec := receive(t, nil)
		f := setup(t, seen, webhook.Options{})
		ctx := t.Context()
		inTx := func(do func(tx *database.Tx) error) func() error {
			return func() error { return f.db.InTx(ctx, do) }
		}
		var ep webhook.Endpoint
		for _, include := range [][]string{{}, {"extracted"}} {
			asked.FailEach(t, func() (err error) {
				var created bool
				ep, created, err = f.Put(ctx, webhook.Settings{Scope: scope, URL: rec.URL + "/" + string(rune('a'+len(include))), Include: include})
				require.Equal(t, err == nil, created)
				return err
			})
		}
		asked.FailEach(t, func() error {
			all, err := f.Endpoints(ctx, scope)
			if err == nil {
				require.Len(t, all, 2)
			}
			return err
		})
		asked.FailEach(t, func() error {
			_, err := f.Endpoint(ctx, ep.ID)
			return err
		})
		asked.FailEach(t, func() error {
			_, err := f.Update(ctx, ep.ID, webhook.Change{Events: []string{"message"}, RotateSecret: true})
			return err
		})
		asked.FailEach(t, inTx(func(tx *database.Tx) error {
			_, err := f.ListenersTx(ctx, tx, "message")
			return err
		}))
		asked.FailEach(t, inTx(func(tx *database.Tx) error { return f.PublishTx(ctx, tx, event("a", 1), event("b", 1)) }))
		asked.FailEach(t, func() error { return f.Publish(ctx, event("a", 2)) })
		far := time.Now().Add(time.Hour)
		asked.FailEach(t, inTx(func(tx *database.Tx) error {
			return f.DeferTx(ctx, tx, "extracted", deferredEvent("a", 3, "m3", far), deferredEvent("b", 3, "m3", far), deferredEvent("a", 4, "", time.Time{}))
		}))
		asked.FailEach(t, func() error {
			has, err := f.HasDeferred(ctx, "a")
			if err == nil {
				require.True(t, has)
			}
			return err
		})
		broken := errors.New("it cannot be completed")
		require.ErrorIs(t, inTx(func(tx *database.Tx) error {
			return f.ReleaseTx(ctx, tx, "a", "m3", func([]byte) ([]byte, error) { return nil, broken })
		})(), broken)
		asked.FailEach(t, inTx(func(tx *database.Tx) error {
			return f.ReleaseTx(ctx, tx, "a", "m3", func(body []byte) ([]byte, error) { return body, nil })
		}))
		asked.FailEach(t, inTx(func(tx *database.Tx) error { return f.MergedTx(ctx, tx, scope, "a", []string{"b"}) }))
		var listed webhook.Page[webhook.Delivery]
		asked.FailEach(t, func() (err error) {
			listed, err = f.Deliveries(ctx, webhook.DeliveryFilter{Scope: scope, ChatIDs: []string{"a"}})
			return err
		})
		require.NotEmpty(t, listed.Items)
		asked.FailEach(t, func() error {
			_, err := f.Bodies(ctx, listed.Items)
			return err
		})
		asked.FailEach(t, func() error {
			_, err := f.Replay(ctx, webhook.Replay{Endpoint: ep.ID, State: webhook.DeliveryDelivered})
			return err
		})
		asked.FailEach(t, func() error {
			_, _, err := f.QueueStats(ctx)
			return err
		})
		asked.FailEach(t, func() error {
			_, err := f.Stats(ctx)
			return err
		})
		asked.FailEach(t, func() error {
			_, err := f.Delivered(ctx, time.Now())
			return err
		})
		asked.FailEach(t, func() error { return f.Erase(ctx, webhook.Erasure{Scope: scope, ChatIDs: []string{"a"}}) })
		asked.FailEach(t, func() error { return f.Delete(ctx, ep.ID) })
		asked.FailEach(t, func() error { return f.DeleteScope(ctx, scope) })
		asked.FailEach(t, func() error { return f.DeleteAll(ctx) })
	})
}
