package webhook_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook"
)

// about is an event of a chat and a message, with a canary in all that is kept
// of it.
func about(chatID, messageID string) webhook.Event {
	return webhook.Event{
		Account: account, Scope: scope, Type: "message", Key: "key", ChatID: chatID, MessageID: messageID,
		Headers: map[string]string{"X-Canary": "canary"}, Body: []byte(`{"text":"canary ` + chatID + messageID + `"}`),
	}
}

func (f *fixture) erase(t *testing.T, by *webhook.Account, e webhook.Erasure) {
	t.Helper()
	require.NoError(t, by.Erase(t.Context(), e))
}

// stored counts rows that still hold a word.
func (f *fixture) stored(t *testing.T, word string) (n int) {
	t.Helper()
	require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT
		(SELECT count(*) FROM webhook_event WHERE body || headers || chat_id || message_id LIKE $1) +
		(SELECT count(*) FROM webhook_attempt WHERE response || error LIKE $1)`, "%"+word+"%"))
	return n
}

func (f *fixture) log(t *testing.T, filter webhook.DeliveryFilter) []webhook.Delivery {
	t.Helper()
	filter.Scope = scope
	p, err := f.Deliveries(t.Context(), filter)
	require.NoError(t, err)
	require.Empty(t, p.Next)
	return p.Items
}

// TestErase erases what was delivered: the log keeps that it was, and when, but
// nothing of what, and it is not delivered again.
func TestErase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		echo := &webhook.Echo{}
		f := running(t, db, webhook.Options{Policy: fast, Echo: echo})
		parrot := receive(t, func(_ int, r request, w http.ResponseWriter) { reply{body: r.body}.write(r, w) })
		ep := f.put(t, parrot.URL)
		f.put(t, webhook.EchoURL)
		f.publish(t, about("eva", "m1"), about("eva.old", "m2"), about("group", "m3"), about("group", "m4"), about("", "m5"))
		f.until(t, func() bool { return len(f.log(t, webhook.DeliveryFilter{State: webhook.DeliveryDelivered})) == 10 })
		before := f.log(t, webhook.DeliveryFilter{})
		erasure := webhook.Erasure{Scope: scope, ChatIDs: []string{"eva", "eva.old"}, MessageIDs: []string{"m3"}}

		other := erasure
		other.Scope = "8"
		f.erase(t, f.Account, other)
		f.erase(t, f.For("another account"), erasure)
		require.Equal(t, before, f.log(t, webhook.DeliveryFilter{}))

		bodies, err := f.Bodies(t.Context(), before)
		require.NoError(t, err)
		require.Len(t, bodies, 10)
		foreign, err := f.For("another account").Bodies(t.Context(), before)
		require.NoError(t, err)
		require.Empty(t, foreign)

		f.erase(t, f.Account, erasure)
		f.erase(t, f.Account, erasure) // once more changes nothing
		bodies, err = f.Bodies(t.Context(), before)
		require.NoError(t, err)
		require.Len(t, bodies, 4)
		after := f.log(t, webhook.DeliveryFilter{})
		require.Len(t, after, len(before))
		for i, d := range after {
			was := before[i]
			if !slices.Contains([]string{"m4", "m5"}, was.MessageID) {
				was.ChatID, was.MessageID, was.Attempts[0].Response = "", "", ""
			}
			require.Equal(t, was, d)
		}
		for _, id := range []string{"eva", "m1", "m2", "m3"} {
			require.Zero(t, f.stored(t, id), id)
		}
		require.Equal(t, 4, f.stored(t, "canary"), "events and answers of two messages")
		require.Len(t, echo.Last(scope), 2)

		ids := make([]string, 0, len(after))
		for _, d := range after {
			if d.EndpointID == ep.ID {
				ids = append(ids, d.ID)
			}
		}
		n, err := f.Replay(t.Context(), webhook.Replay{IDs: ids})
		require.NoError(t, err)
		require.Equal(t, 2, n, "what was erased is left out")
		parrot.wait(t, 7)
	})
}

// TestErasePending erases what is still to be delivered.
func TestErasePending(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{Policy: fast})
		rec := receive(t, nil)
		ep := f.put(t, rec.URL)
		f.publish(t, about("eva", "m1"), about("ben", "m2"))
		f.erase(t, f.Account, webhook.Erasure{Scope: scope, ChatIDs: []string{"eva"}})
		f.start(t)
		in := func(state string) []webhook.Delivery { return f.log(t, webhook.DeliveryFilter{State: state}) }
		f.until(t, func() bool { return len(in(webhook.DeliveryDelivered)) == 1 && len(in(webhook.DeliveryFailed)) == 1 })
		require.Len(t, rec.all(), 1)
		lost := in(webhook.DeliveryFailed)
		require.Equal(t, "its content was erased", lost[0].Attempts[0].Error)
		up, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, "ok", string(up.State))
		require.Empty(t, up.LastError, "it is not the endpoint's fault")
		require.Zero(t, f.stored(t, "eva"))
	})
}

// TestEmptyBody refuses an event that would look erased.
func TestEmptyBody(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		err := f.db.InTx(t.Context(), func(tx *database.Tx) error {
			return f.PublishTx(t.Context(), tx, webhook.Event{Account: account, Scope: scope, Type: "message"})
		})
		require.ErrorContains(t, err, "Event.Body must not be empty")
	})
}
