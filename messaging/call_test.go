package messaging_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

func (s *wireSession) RejectCall(context.Context, provider.Address, string) error {
	return s.call("reject")
}

// callStep is a step of a call of the contact 111.
func callStep(id string, status provider.CallStatus) *provider.Call {
	return &provider.Call{
		Raw: rawID(id + ":" + string(status)), CallID: id, Chat: phone("111"), From: provider.Contact{Address: phone("111")}, Status: status, At: epoch,
	}
}

// TestRejectCall_RejectsWhatRings rejects a call once, tells that it did, and refuses
// what cannot be rejected.
func TestRejectCall_RejectsWhatRings(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.linked(t, w)
		f.receive(t, ref, callStep("c1", provider.CallRinging), callStep("c2", provider.CallMissed), callStep("c3", provider.CallRinging))
		inGroup := callStep("c4", provider.CallRinging)
		inGroup.Chat = provider.Address{ChatID: "1@g.us", Group: true}
		f.receive(t, ref, inGroup)

		rejected := messaging.Call{Reference: ref, ChatID: "111", ID: "c1", Status: provider.CallRejected}
		for range 2 {
			call, err := f.acc.Calls().Reject(t.Context(), ref, "111", "c1")
			require.NoError(t, err)
			require.Equal(t, rejected, call)
		}
		require.Equal(t, 1, w.called("reject"), "it is rejected already")
		events := callEvents(t, f)
		last := events[len(events)-1]
		require.Equal(t, `"rejected"`, member(t, last.Payload, "status"))
		require.Equal(t, `"api"`, member(t, last.Payload, "rejectedBy"))
		golden(t, "payload-call-rejected.json", last.Payload)

		refused := func(chat, call, code, field string) {
			t.Helper()
			_, err := f.acc.Calls().Reject(t.Context(), ref, chat, call)
			r, ok := messaging.Refused(err)
			require.True(t, ok, err)
			require.Equal(t, code, r.Code)
			require.Equal(t, field, r.Field)
		}
		refused("111", "c2", messaging.CodeConflict, "callId")
		refused("111", "c9", messaging.CodeNotFound, "callId")
		refused("222", "c1", messaging.CodeNotFound, "")
		refused("1@g.us", "c4", messaging.CodeUnsupported, "")
		w.refuse(&provider.Rejected{Code: "5", Message: "No."})
		refused("111", "c3", messaging.CodeProvider, "")
		require.Len(t, callEvents(t, f), len(events), "nothing was rejected")
		_, err := f.svc.For("another").Calls().Reject(t.Context(), ref, "111", "c3")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		_, err = f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		refused("111", "c3", messaging.CodeSessionNotConnected, "")

		other := f.reference(t, testKind)
		f.receive(t, other, callStep("c1", provider.CallRinging))
		_, err = f.acc.Calls().Reject(t.Context(), other, "111", "c1")
		r, _ := messaging.Refused(err)
		require.Equal(t, messaging.CodeUnsupported, r.Code)
	})
}

// TestRejectedCall_IsAnsweredOnce sends the reply of a setting once for each call,
// as a message of the chat.
func TestRejectedCall_IsAnsweredOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		bySetting := func(raw, id string) *provider.Call {
			c := callStep(id, provider.CallRejected)
			c.ID, c.RejectedBy, c.Reply = raw, provider.RejectedBySetting, "Please write: "+id
			return c
		}
		for range 2 {
			f.receive(t, ref, callStep("c1", provider.CallRinging), bySetting("r1", "c1"), bySetting("r2", "c1"))
			f.receive(t, ref, bySetting("r3", "c1"))
		}
		late := bySetting("r4", "c2")
		f.receive(t, ref, callStep("c2", provider.CallMissed), late)
		ringing := bySetting("r5", "c3")
		ringing.Status = provider.CallRinging
		f.receive(t, ref, ringing)
		inGroup := bySetting("r6", "c5")
		inGroup.Chat = provider.Address{ChatID: "1@g.us", Group: true}
		f.receive(t, ref, inGroup)

		sent := f.messages(t, ref, "111")
		require.Len(t, sent, 1)
		require.Equal(t, "Please write: c1", sent[0].Text)
		require.Equal(t, messaging.ActorBot, sent[0].Actor)
		require.True(t, sent[0].Mine)
		f.until(t, "sent", func() bool { return len(f.net.texts()) > 0 })
		require.Equal(t, []string{"Please write: c1"}, f.net.texts())
		var by []string
		for _, e := range callEvents(t, f) {
			by = append(by, member(t, e.Payload, "id")+member(t, e.Payload, "status")+member(t, e.Payload, "rejectedBy"))
		}
		require.Equal(t, []string{`"c1""ringing"`, `"c1""rejected""setting"`, `"c2""missed"`, `"c3""ringing"`, `"c5""rejected""setting"`}, by)
	})
}

// TestRejectedCall_IsStoredWithoutItsReply stores a call whose reply cannot be sent.
func TestRejectedCall_IsStoredWithoutItsReply(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		_, err := f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		c := callStep("c1", provider.CallRejected)
		c.RejectedBy, c.Reply = provider.RejectedBySetting, "Please write."
		f.receive(t, ref, c)
		require.Len(t, callEvents(t, f), 1)
		require.Empty(t, f.messages(t, ref, "111"))
	})
}

// TestNestedSettings merges settings of an object by their members.
func TestNestedSettings(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.reference(t, kindWire, map[string]string{"calls.reject": "true", "calls.reply": "Please write."})
		change := func(in map[string]any) map[string]any {
			t.Helper()
			flat, err := messaging.FlatSettings(in)
			require.NoError(t, err)
			r, err := f.acc.References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: flat})
			require.NoError(t, err)
			return r.Settings
		}
		require.Equal(t, map[string]any{"calls": map[string]any{"reject": false, "reply": "Please write."}},
			change(map[string]any{"calls": map[string]any{"reject": false}}))
		require.Equal(t, map[string]any{"calls": map[string]any{"reject": false}}, change(map[string]any{"calls": map[string]any{"reply": nil}}))
		require.Empty(t, change(map[string]any{"calls": nil}))

		_, err := messaging.FlatSettings(map[string]any{"calls": map[string]any{"reject": 1.0}})
		requireInvalid(t, err, "settings.calls.reject")
		_, err = messaging.FlatSettings(map[string]any{"calls": []any{}})
		requireInvalid(t, err, "settings.calls")
		for name, v := range map[string]string{"calls.reject": "maybe", "calls.colour": "red", "calls": "true", "colour": ""} {
			_, err = f.acc.References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: map[string]string{name: v}})
			requireInvalid(t, err, "settings."+name)
		}
	})
}

// callEvents are the events of calls so far.
func callEvents(t *testing.T, f *fixture) (out []messaging.Event) {
	t.Helper()
	for _, e := range f.sink.all(t) {
		if e.Type == messaging.EventCalls {
			out = append(out, e)
		}
	}
	return out
}
