package messaging_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// sentAs is what events and records say of which send they belong to.
type sentAs struct{ RequestID, ClientID string }

func (s *sentAs) of(t *testing.T, raw []byte) sentAs {
	t.Helper()
	*s = sentAs{}
	require.NoError(t, json.Unmarshal(raw, s), string(raw))
	return *s
}

// TestClientID_IsOnEverythingOfTheMessage sends by all doors, on networks that
// choose ids late and on such that take ours.
func TestClientID_IsOnEverythingOfTheMessage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		for _, kind := range []provider.Kind{testKind, ownIDsKind} {
			ref := f.openChat(t, kind)
			feed := follow(t, f, ref, beginning)
			take(t, feed, 1) // the contact's
			free := make(chan struct{})
			f.net.script(func(ctx netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
				if err := released(ctx, free); err != nil {
					return provider.Receipt{}, err
				}
				return f.net.taken(out), nil
			})
			first := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", ClientID: "order-1001"})
			require.Equal(t, "PENDING", first.Status)
			require.Equal(t, first.ID, first.RequestID)
			want := sentAs{first.ID, "order-1001"}
			close(free)
			record := func() messaging.Message {
				m, err := f.acc.Message(t.Context(), ref, "", "order-1001")
				require.NoError(t, err)
				return m
			}
			f.until(t, "it is taken", func() bool { return record().Status == "SENDING" })
			id := record().ID
			require.Equal(t, kind == ownIDsKind, id == first.ID)
			f.receive(t, ref, status(id, provider.StatusDelivered), status(id, provider.StatusRead))
			require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, id))
			require.Equal(t, want, sentAs{record().RequestID, record().ClientID})
			var got sentAs
			for _, e := range f.sink.all(t) {
				if e.MessageID == id {
					require.Equal(t, want, got.of(t, e.Payload))
				}
			}
			for _, e := range take(t, feed, 4) { // stored, taken, delivered, read
				require.Equal(t, want, got.of(t, []byte(e.Data)))
			}
			x, err := f.acc.Explain(t.Context(), ref, "111", first.RequestID)
			require.NoError(t, err)
			require.Equal(t, want, sentAs{x.Message.RequestID, x.Message.ClientID})

			var inTx messaging.Message
			tx := db.MustBeginTx(t.Context(), nil)
			inTx, err = f.acc.SendTx(t.Context(), tx, messaging.SendRequest{
				Reference: ref, ChatID: "111", Content: provider.Text{Text: "in a transaction"}, ClientID: "tx",
			})
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			require.Equal(t, sentAs{inTx.ID, "tx"}, sentAs{inTx.RequestID, inTx.ClientID})
		}
	})
}

// TestClientID_IsAbsentWhereNothingWasSentHere is about what the contact or the
// account's phone wrote.
func TestClientID_IsAbsentWhereNothingWasSentHere(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"), text("m2", "111", "by hand", func(m *provider.Message) { m.Mine = true }))
		f.receive(t, ref, status("m2", provider.StatusRead))
		for _, e := range f.sink.all(t) {
			require.NotContains(t, string(e.Payload), "requestId")
			require.NotContains(t, string(e.Payload), "clientId")
		}
		for _, m := range f.messages(t, ref, "111") {
			require.Empty(t, m.RequestID+m.ClientID)
		}
	})
}

// badClientIDs are none.
var badClientIDs = []string{strings.Repeat("a", 129), strings.Repeat("é", 129), "a\x00b", "a\nb", "\x7f", "a\u0085b", "\xff"}

func TestClientID_IsChecked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		for _, bad := range badClientIDs {
			req := say(ref, "hi")
			req.ClientID = bad
			_, err := f.acc.Send(t.Context(), req)
			requireInvalid(t, err, "clientId")
			_, err = f.acc.Check(t.Context(), req)
			requireInvalid(t, err, "clientId")
			_, err = f.acc.Messages(t.Context(), ref, "111", messaging.History{ClientID: bad})
			requireInvalid(t, err, "clientId")
		}
		require.Len(t, f.messages(t, ref, "111"), 1, "nothing is stored")
		for _, good := range []string{"a", strings.Repeat("é", 128), strings.Repeat("😀", 128), "a b/c?%", "'; --"} {
			req := say(ref, "hi")
			req.ClientID, req.Wait = good, 0
			sent := f.send(t, req)
			require.Equal(t, good, sent.ClientID)
			found, err := f.acc.Message(t.Context(), ref, "", good)
			require.NoError(t, err)
			require.Equal(t, sent.ID, found.ID)
		}
	})
}

// TestMessage_FindsAnyID looks messages up.
func TestMessage_FindsAnyID(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		other := f.openChat(t, testKind)
		f.receive(t, ref, text("m9", "111", "hello"))
		send := func(clientID string) messaging.Message {
			req := say(ref, "hi")
			req.ClientID = clientID
			m := f.send(t, req)
			require.Equal(t, "SENDING", m.Status)
			return m
		}
		find := func(id string) messaging.Message {
			m, err := f.acc.Message(t.Context(), ref, "", id)
			require.NoError(t, err, id)
			return m
		}
		older, newer := send("twice"), send("twice")
		clash := send("m9")
		for _, m := range []messaging.Message{older, newer, clash} {
			require.NotEqual(t, m.ID, m.RequestID)
			require.Equal(t, m, find(m.ID))
			require.Equal(t, m, find(m.RequestID))
		}
		require.Equal(t, newer, find("twice"), "the newest")
		require.Equal(t, "m9", find("m9").ID, "ids come before client ids")

		for _, unknown := range []string{"", "nothing", "order-1001", strings.Repeat("x", 4000), "\xff"} {
			_, err := f.acc.Message(t.Context(), ref, "", unknown)
			require.ErrorIs(t, err, messaging.ErrNotFound)
		}
		_, err := f.acc.Message(t.Context(), ref, "", "a\nb")
		requireInvalid(t, err, "id")
		for _, id := range []string{newer.ID, newer.RequestID, "twice"} {
			_, err := f.acc.Message(t.Context(), other, "", id)
			require.ErrorIs(t, err, messaging.ErrNotFound, "of another reference")
			_, err = f.svc.For("other").Message(t.Context(), ref, "", id)
			require.ErrorIs(t, err, messaging.ErrNotFound, "of another account")
		}
	})
}

// TestMessages_AreFiltered lists by status, direction and client id, over
// several pages.
func TestMessages_AreFiltered(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		for i := range 6 {
			req := say(ref, fmt.Sprint(i))
			req.Wait, req.ClientID = 0, fmt.Sprint("c", i%2)
			f.send(t, req)
			f.receive(t, ref, text(fmt.Sprint("in", i), "111", "hello"))
		}
		f.receive(t, ref, status("in3", provider.StatusRead), status("in4", provider.StatusRead))
		list := func(h messaging.History) (out []string) {
			h.Limit = 2
			for {
				page, err := f.acc.Messages(t.Context(), ref, "111", h)
				require.NoError(t, err)
				for _, m := range page.Items {
					out = append(out, m.Text+m.ClientID+m.Status)
				}
				if page.Next == "" {
					return out
				}
				h.Cursor = page.Next
			}
		}
		require.Equal(t, []string{"4c0PENDING", "2c0PENDING", "0c0PENDING"}, list(messaging.History{ClientID: "c0"}))
		require.Equal(t, []string{"helloREAD", "helloREAD"}, list(messaging.History{Status: "READ"}))
		require.Len(t, list(messaging.History{Direction: "out"}), 6)
		require.Len(t, list(messaging.History{Direction: "in"}), 7)
		require.Len(t, list(messaging.History{Direction: "out", Status: "PENDING", ClientID: "c1"}), 3)
		require.Empty(t, list(messaging.History{Direction: "in", ClientID: "c1"}))
		require.Empty(t, list(messaging.History{ClientID: "unknown"}))
		require.Empty(t, list(messaging.History{Status: "PLAYED"}))

		for field, h := range map[string]messaging.History{
			"status": {Status: "SENT"}, "direction": {Direction: "both"}, "cursor": {Cursor: "MC4w", Before: "MC4w"}, "after": {Cursor: "MC4w", After: "MC4w"},
		} {
			_, err := f.acc.Messages(t.Context(), ref, "111", h)
			requireInvalid(t, err, field)
		}
		for _, bad := range badCursors {
			_, err := f.acc.Messages(t.Context(), ref, "111", messaging.History{Cursor: bad})
			requireInvalid(t, err, "cursor")
		}
	})
}

// TestClientID_IsPartOfARepeatedRequest is about the idempotency key.
func TestClientID_IsPartOfARepeatedRequest(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		req := say(ref, "hi")
		req.IdempotencyKey, req.ClientID = "k1", "c1"
		first := f.send(t, req)
		again, err := f.acc.Send(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, first.RequestID, again.Message.RequestID)
		req.ClientID = "c2"
		_, err = f.acc.Send(t.Context(), req)
		requireCode(t, err, messaging.CodeConflict)
	})
}

// splitProvider sends a question and its buttons as two messages.
type splitProvider struct{ testProvider }

func (p *splitProvider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text", "buttons"}, Receipts: true}
}

func (p *splitProvider) Split(c provider.Content) []provider.Content {
	if b, ok := c.(provider.Buttons); ok {
		return []provider.Content{provider.Text{Text: b.Text}, b}
	}
	return []provider.Content{c}
}

// TestRequestID_IsOfAllPartsOfASend is about what a network has no single
// message for.
func TestRequestID_IsOfAllPartsOfASend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const kind provider.Kind = "provider-test-parts"
		net := newNetwork()
		f := setup(t, db, config{net: net, options: func(o *messaging.Options) {
			o.Providers = append(o.Providers, &splitProvider{testProvider{net, kind}})
		}})
		ref := f.openChat(t, kind)
		m := f.send(t, messaging.SendRequest{
			Reference: ref, ChatID: "111", ClientID: "parts", Wait: timeout,
			Content: provider.Buttons{Text: "Sure?", Buttons: []provider.Choice{{ID: "y", Title: "Yes"}}},
		})
		parts, err := f.acc.Messages(t.Context(), ref, "111", messaging.History{ClientID: "parts"})
		require.NoError(t, err)
		require.Len(t, parts.Items, 2)
		for _, part := range parts.Items {
			require.Equal(t, m.RequestID, part.RequestID)
		}
		for _, id := range []string{"parts", m.RequestID, m.ID} {
			found, err := f.acc.Message(t.Context(), ref, "", id)
			require.NoError(t, err)
			require.Equal(t, m.ID, found.ID, "what the send answered with")
		}
	})
}
