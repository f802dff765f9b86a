package messaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// steps are those of a message of the contact 111, in words.
func (f *fixture) steps(t *testing.T, ref provider.ReferenceID, id string) []string {
	t.Helper()
	x, err := f.acc.Explain(t.Context(), ref, "111", id)
	require.NoError(t, err)
	require.Equal(t, id, x.Message.ID)
	var out []string
	for i, s := range x.Steps {
		require.False(t, s.At.IsZero())
		require.True(t, i == 0 || !s.At.Before(x.Steps[i-1].At), "they are in the order of time")
		words := []string{s.Step}
		for _, w := range []string{s.Status, s.Outcome} {
			if w != "" {
				words = append(words, w)
			}
		}
		if s.Times > 0 {
			words = append(words, fmt.Sprint("x", s.Times))
		}
		if s.Error != nil {
			words = append(words, s.Error.Code)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// TestExplainSent follows a message that was hard to send.
func TestExplainSent(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		soon, free := time.Millisecond, make(chan struct{})
		f.net.failUntil(
			free, &provider.RateLimited{After: soon, Code: "4", Message: "slow down"}, &provider.RateLimited{After: soon, Code: "4", Message: "slow down"},
			&provider.Temporary{After: soon, Err: errors.New("down")},
		)
		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		close(free)
		f.until(t, "it is sent", func() bool { return len(f.net.attempts()) == 4 && f.messages(t, ref, "111")[0].Status == "SENDING" })
		id := f.messages(t, ref, "111")[0].ID
		require.NotEqual(t, sent.ID, id)
		said := epoch.Add(-time.Hour)
		f.receive(t, ref, &provider.StatusChange{MessageID: id, Status: provider.StatusDelivered, At: said})
		f.receive(t, ref, status(id, provider.StatusDelivered), status(id, provider.StatusRead), status(id, provider.StatusDelivered))
		want := []string{"stored", "attempt retried x2 4", "attempt retried not_sent", "attempt sent", "status SENDING", "status DELIVERED", "status READ"}
		require.Equal(t, want, f.steps(t, ref, id))
		x, err := f.acc.Explain(t.Context(), ref, "111", sent.ID)
		require.NoError(t, err, "by the id that it had at first")
		require.Equal(t, said, x.Steps[5].SaidAt)

		f.net.fail(&provider.Rejected{Code: "7", Message: "no"})
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: "refused"}, Wait: timeout})
		var refused *messaging.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, []string{"stored", "attempt failed 7", "status FAIL 7"}, f.steps(t, ref, refused.MessageID))
		f.net.fail(errors.New("cut"))
		uncertain := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: "lost"}, Wait: timeout})
		require.Equal(t, []string{"stored", "attempt unconfirmed"}, f.steps(t, ref, uncertain.ID))
	})
}

// TestExplainReceived follows messages of a contact.
func TestExplainReceived(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref, gate := f.reference(t, filesKind), make(chan struct{})
		f.depot.put("file", picture(t, 3, 2), gate)
		odd := json.RawMessage(`{"hologram":{"depth":3}}`)
		f.receive(
			t, ref, photo("image", "file", nil), photo("lost", "nowhere", nil),
			text("odd", "111", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: "hologram", Body: odd} }),
		)
		require.Equal(t, []string{"received", "stored", "file waiting", "held"}, f.steps(t, ref, "image"))
		close(gate)
		f.until(t, "all is told", func() bool { return len(f.events(t)) == 3 })
		_, err := f.acc.MarkRead(t.Context(), ref, "111", "")
		require.NoError(t, err)
		require.Equal(t, []string{"received", "stored", "file kept", "status READ"}, f.steps(t, ref, "image"))
		require.Equal(t, []string{"received", "stored", "file lost media_unavailable", "status READ"}, f.steps(t, ref, "lost"))
		x, err := f.acc.Explain(t.Context(), ref, "111", "image")
		require.NoError(t, err)
		require.Equal(t, epoch.Add(-time.Second), x.Steps[0].SaidAt)
		require.Equal(t, x.Message.FileURL, x.Steps[2].FileURL)
		require.NotEmpty(t, x.Message.FileURL)
		require.Nil(t, x.Steps[0].Raw)
		x, err = f.acc.Explain(t.Context(), ref, "111", "odd")
		require.NoError(t, err)
		require.JSONEq(t, string(odd), string(x.Steps[0].Raw))

		f.receive(t, ref, text("other", "222", "hello"))
		for name, of := range map[string][2]string{"another chat's": {"111", "other"}, "unknown": {"111", "m9"}, "no chat": {"333", "image"}} {
			_, err := f.acc.Explain(t.Context(), ref, of[0], of[1])
			require.ErrorIs(t, err, messaging.ErrNotFound, name)
		}
		_, err = f.svc.For("another").Explain(t.Context(), ref, "111", "image")
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}
