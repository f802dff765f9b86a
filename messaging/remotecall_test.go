package messaging_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// call counts a call that is no send.
func (s *wireSession) call(name string) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.calls[name]++
	return s.w.refusal
}

func (s *wireSession) CheckNumber(_ context.Context, who provider.Address) (provider.NumberCheck, error) {
	return provider.NumberCheck{Exists: ptr(true), Chat: provider.Address{ChatID: who.ChatID + "9", Phone: who.Phone}}, s.call("number")
}

func (s *wireSession) CreateGroup(_ context.Context, subject string, who []provider.Address) (provider.Group, error) {
	g := wireGroup(subject)
	g.Refused = []provider.RefusedParticipant{{Address: who[0], Failure: provider.Failure{Code: "403", Message: "Not allowed."}}}
	return g, s.call("create")
}

func (s *wireSession) Group(_ context.Context, chat provider.Address) (provider.Group, error) {
	g := wireGroup("Friends")
	g.Chat = chat
	return g, s.call("group")
}

func (s *wireSession) SetGroupSubject(context.Context, provider.Address, string) error {
	return s.call("subject")
}

func (s *wireSession) ChangeParticipants(_ context.Context, _ provider.Address, change provider.ParticipantChange, who []provider.Address) ([]provider.RefusedParticipant, error) {
	return []provider.RefusedParticipant{{Address: who[0], Failure: provider.Failure{Code: "404", Message: string(change)}}}, s.call(string(change))
}

func (s *wireSession) GroupInvite(_ context.Context, _ provider.Address, reset bool) (string, error) {
	if reset {
		return "https://example.org/new", s.call("reset")
	}
	return "https://example.org/join", s.call("invite")
}

func (s *wireSession) LeaveGroup(context.Context, provider.Address) error { return s.call("leave") }

func wireGroup(subject string) provider.Group {
	return provider.Group{
		Chat: provider.Address{ChatID: "1@g.us", Group: true}, Subject: subject, Description: "About «us»", Admin: true, CreatedAt: epoch,
		Participants: []provider.Participant{{Contact: provider.Contact{Address: provider.Address{ChatID: "2", Phone: "2"}, Name: "Ben"}, Admin: true}},
	}
}

func (w *wire) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusal = err
}

func (w *wire) called(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[name]
}

// spokenError has the network's own words.
type spokenError struct{}

func (spokenError) Error() string { return "spoken" }
func (spokenError) Text() string  { return "Come back later." }

// TestRemoteCall makes calls on a node that does not have the reference: they are made
// once where it is, and answered as they are there.
func TestRemoteCall(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url, w := testkit.PostgresURL(t), newWire()
		here := node(t, testkit.Open(t, url), w, false)
		ref := here.linked(t, w)
		db := testkit.Open(t, url)
		there := node(t, db, w, false)

		n, err := there.acc.Contacts().CheckNumber(t.Context(), ref, "+49 151")
		require.NoError(t, err)
		require.Equal(t, messaging.Number{Phone: "49151", Exists: ptr(true), ChatID: "491519"}, n)
		same, err := here.acc.Contacts().CheckNumber(t.Context(), ref, "49151")
		require.NoError(t, err)
		require.Equal(t, n, same)
		require.Equal(t, 1, w.called("number"), "the answer is kept")

		made, err := there.acc.Groups().Create(t.Context(), ref, messaging.NewGroup{Subject: "Us", Participants: []string{"3"}})
		require.NoError(t, err)
		require.Equal(t, "Us", made.Subject)
		require.Equal(t, "403", made.Refused[0].Error.Code)
		far, err := there.acc.Groups().Edit(t.Context(), ref, "1@g.us", groupEdit())
		require.NoError(t, err)
		near, err := here.acc.Groups().Edit(t.Context(), ref, "1@g.us", groupEdit())
		require.NoError(t, err)
		require.Equal(t, near, far)
		require.True(t, far.Left)
		for _, name := range []string{"subject", "add", "remove", "promote", "demote", "reset", "leave"} {
			require.Equal(t, 2, w.called(name), name)
		}

		here.receive(t, ref, callStep("c2", provider.CallRinging))
		rejected, err := there.acc.Calls().Reject(t.Context(), ref, "111", "c2")
		require.NoError(t, err)
		require.Equal(t, provider.CallRejected, rejected.Status)
		require.Equal(t, 1, w.called("reject"))

		w.asksPasskey(t, here, ref, &provider.PasskeyRequest{Options: &provider.PasskeyOptions{Challenge: "Y2g"}})
		_, err = there.acc.Sessions().AnswerPasskey(t.Context(), ref, credential())
		require.NoError(t, err)
		w.asksPasskey(t, here, ref, &provider.PasskeyRequest{Code: "ABCD-1234"})
		_, err = there.acc.Sessions().ConfirmPasskey(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, []int{1, 1}, []int{w.called("passkey signed"), w.called("confirm")})
		require.NoError(t, w.scan(t.Context(), ref))

		for _, refusal := range refusals() {
			w.refuse(refusal)
			_, want := here.acc.Groups().Get(t.Context(), ref, "1@g.us")
			require.Error(t, want)
			_, got := there.acc.Groups().Get(t.Context(), ref, "1@g.us")
			require.Equal(t, want, got, "%#v", refusal)
		}
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_remote_call`))
	})
}

func groupEdit() messaging.GroupEdit {
	return messaging.GroupEdit{
		Subject: ptr("We"), Add: []string{"4"}, Remove: []string{"5"}, Promote: []string{"6"}, Demote: []string{"7"},
		ResetInvite: true, Leave: true,
	}
}

func refusals() []error {
	return []error{
		&provider.RateLimited{After: time.Minute, Code: "429", Message: "Slow down."},
		&provider.WindowClosed{Code: "1", Message: "Over."},
		&provider.BadRecipient{Code: "404", Message: "Unknown."},
		&provider.AuthExpired{Code: "401", Message: "Who?"},
		&provider.Unsupported{What: "groups"},
		&provider.Invalid{Field: "subject", Message: "is too long"},
		&provider.Rejected{Code: "403", Message: "You are no administrator."},
		&provider.Temporary{Err: errors.New("no connection"), After: time.Minute},
		&provider.Temporary{Err: spokenError{}},
		&provider.Ambiguous{Err: errors.New("cut off")},
		errors.New("anything"),
	}
}

// TestRemoteCallNobodyTakes makes a call for a reference that no living node has: it is
// refused after a while, and never made.
func TestRemoteCallNobodyTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, w := testkit.Open(t, testkit.SQLiteURL(t)), newWire()
		f := node(t, db, w, false)
		ref := f.linked(t, w)
		db.MustExec(`UPDATE messaging_lease SET node = 'other', fence = fence + 1, until_us = until_us + 3600000000`)
		w.until(t, db, "let go", func() bool { return w.session(ref) == nil })
		_, err := f.acc.Contacts().CheckNumber(t.Context(), ref, "49151")
		var refused *messaging.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, messaging.CodeSessionNotConnected, refused.Code)

		db.MustExec(`UPDATE messaging_lease SET node = '', until_us = 0`)
		_, err = f.acc.Groups().Get(t.Context(), ref, "1@g.us") // waits until the reference stands
		require.NoError(t, err)
		require.Zero(t, w.called("number"))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_remote_call`))
	})
}
