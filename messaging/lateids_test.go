package messaging_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

var lateIDs = map[string]string{"lateIds": "true"}

// TestSend_UncertainStart loses the answer to the commit of the note that an attempt begins,
// and fails it the time after: nothing was sent, and so the message is sent.
func TestSend_UncertainStart(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setup(t, seen, config{idle: true})
		late := f.reference(t, sandbox.Kind, lateIDs)
		f.send(t, messaging.SendRequest{Reference: late, ChatID: "ana", Content: provider.Text{Text: "hi"}})
		const note = "messaging_outbound SET started_us = $1 WHERE"
		asked.LoseCommits(note, 1)
		f.run(t)
		f.until(t, "it is delivered", func() bool { return f.messages(t, late, "ana")[0].Status == "DELIVERED" })
		require.Equal(t, 2, asked.Of(note))
	})
}

// TestLateIDs shows what differs from a reference whose ids are ours.
func TestLateIDs(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		early, late := f.reference(t, sandbox.Kind), f.reference(t, sandbox.Kind, lateIDs)
		say := func(ref provider.ReferenceID, c provider.Content) messaging.Message {
			return f.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana", Content: c})
		}
		first := say(early, provider.Text{Text: "hi"})
		require.Regexp(t, `^sandbox-`, first.ID, "ours is the network's")
		second := say(late, provider.Text{Text: "hi"})
		require.Regexp(t, `^out-`, second.ID)
		require.Equal(t, "PENDING", second.Status)
		changed := say(late, provider.Edit{MessageID: second.ID, Text: "hello"})
		require.Regexp(t, `^out-`, changed.ID)

		f.run(t)
		f.until(t, "all are delivered", func() bool {
			return f.messages(t, late, "ana")[0].Status == "DELIVERED" && f.messages(t, early, "ana")[0].Status == "DELIVERED"
		})
		require.Equal(t, first.ID, f.messages(t, early, "ana")[0].ID)
		now := f.messages(t, late, "ana")[1]
		require.Regexp(t, `^sandbox-`, now.ID, "the network's")
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED"}, f.sink.of(t, now.ID))
		require.Empty(t, f.sink.of(t, second.ID))
		found, err := f.acc.Listed(t.Context(), late, "ana", []string{second.ID})
		require.NoError(t, err)
		require.Equal(t, now.ID, found[0].ID, "the first id stays an alias")

		screen, err := f.acc.Screen().List(t.Context(), late, "ana", messaging.List{})
		require.NoError(t, err)
		require.Len(t, screen.Items, 1)
		require.True(t, screen.Items[0].Edited, "which was named by the alias")

		bad := map[string]string{"lateIds": "yes"}
		_, err = f.acc.References().Update(t.Context(), early, messaging.ReferenceChange{Settings: bad})
		requireInvalid(t, err, "settings.lateIds")
		_, err = f.acc.References().Update(t.Context(), early, messaging.ReferenceChange{Settings: lateIDs})
		require.NoError(t, err)
		require.Regexp(t, `^out-`, say(early, provider.Text{Text: "hi"}).ID)
	})
}

// TestLateIDsAfterACrash lets a process die before and after the network has
// taken a message.
func TestLateIDsAfterACrash(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachURL(t, func(t *testing.T, url string) {
				db := testkit.Open(t, url)
				dies := &dying{Provider: sandbox.New(), taken: taken, at: make(chan struct{}), ctx: t.Context()}
				first := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers[0] = dies }})
				ref := first.reference(t, sandbox.Kind, lateIDs)
				own := first.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana"}).ID
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- first.svc.Run(ctx) }()
				t.Cleanup(func() {
					cancel()
					require.NoError(t, <-done)
				})
				<-dies.at

				second := successor(t, testkit.Open(t, url), first)
				second.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana", Content: provider.Text{Text: "next"}})
				second.until(t, "the next one is there", func() bool { return second.messages(t, ref, "ana")[0].Status == "DELIVERED" })
				m := second.messages(t, ref, "ana")[1]
				if taken {
					require.Equal(t, "DELIVERED", m.Status, "the status named our id")
					require.NotEqual(t, own, m.ID)
					require.Equal(t, []string{"message:SENDING", "status:DELIVERED"}, append(first.sink.of(t, m.ID), second.sink.of(t, m.ID)...))
					return
				}
				require.Equal(t, "PENDING", m.Status)
				require.Equal(t, "unconfirmed", m.Error.Code)
				require.Equal(t, own, m.ID)
			})
		})
	}
}

// dying is a sandbox whose process dies at its first send. What comes back
// from the dead, where two nodes may work, continues as the sandbox does.
type dying struct {
	*sandbox.Provider
	died  atomic.Bool
	taken bool // after the network has taken the message
	at    chan struct{}
	ctx   context.Context //nolint:containedctx // of the test: it outlives the process
}

func (d *dying) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	s, err := d.Provider.Open(ctx, ref, inbox)
	return &dyingSession{s, d}, err
}

type dyingSession struct {
	provider.Session
	d *dying
}

func (s *dyingSession) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	if s.d.died.Swap(true) {
		return s.Session.Send(ctx, out)
	}
	var r provider.Receipt
	if s.d.taken {
		var err error
		if r, err = s.Session.Send(ctx, out); err != nil {
			return r, err
		}
	}
	close(s.d.at)
	<-s.d.ctx.Done()
	return r, &provider.Temporary{Err: s.d.ctx.Err()}
}
