package messaging_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// onMessage is the type of Options.OnMessage.
type onMessage = func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error

// handled is a running or idle service that handles messages.
func handled(fn onMessage, change ...func(*config)) config {
	c := config{options: func(o *messaging.Options) { o.OnMessage = fn }}
	for _, fn := range change {
		fn(&c)
	}
	return c
}

func idle(c *config) { c.idle = true }

// calls records the texts of messages in the order of the calls.
type calls struct {
	mu    sync.Mutex
	texts []string
}

func (c *calls) add(words string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, words)
	return len(c.texts)
}

func (c *calls) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.texts...)
}

func waiting(t testing.TB, db *sqlx.DB) int {
	t.Helper()
	return count(t, db, `SELECT count(*) FROM queue_job j JOIN queue_partition p ON p.id = j.partition_id WHERE p.queue = 'inbound'`)
}

// handledAll waits until no message waits to be handled.
func (f *fixture) handledAll(t testing.TB) {
	t.Helper()
	f.until(t, "all messages are handled", func() bool { return waiting(t, f.db) == 0 })
}

// sentTexts returns the texts that the account wrote in chat 111, the oldest first.
func (f *fixture) sentTexts(t testing.TB, ref provider.ReferenceID) []string {
	t.Helper()
	out := []string{}
	for _, m := range f.messages(t, ref, "111") {
		if m.Mine {
			out = append([]string{m.Text}, out...)
		}
	}
	return out
}

func TestOnMessage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, handled(func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			if err := reply.Text(ctx, "You wrote: "+m.Text); err != nil {
				return err
			}
			chat, err := reply.Account().Chat(ctx, m.Reference, m.ChatID)
			if err != nil {
				return err
			}
			_, err = reply.Send(ctx, messaging.SendRequest{
				Content: provider.Text{Text: "in " + chat.ID}, ReplyTo: m.ID, ClientID: "second", Reference: 99, ChatID: "elsewhere",
			})
			return err
		}))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		f.handledAll(t)
		require.Equal(t, []string{"You wrote: hello", "in 111"}, f.sentTexts(t, ref))
		second := f.messages(t, ref, "111")[0]
		require.Equal(t, messaging.ActorBot, second.Actor)
		require.Equal(t, "second", second.ClientID)
		require.Equal(t, "m1", second.Context.MessageID)

		f.receive(t, ref, text("m1", "111", "hello"))
		f.handledAll(t)
		require.Len(t, f.sentTexts(t, ref), 2, "a message that the network repeats is no new one")
	})
}

// TestOnMessage_Order blocks the first message of a chat: the others of the chat wait,
// and those of another chat do not.
func TestOnMessage_Order(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		other := make(chan struct{})
		f := setup(t, db, handled(func(ctx context.Context, m messaging.Message, _ *messaging.Replier) error {
			switch m.Text {
			case "a1":
				select {
				case <-other:
				case <-ctx.Done():
					return ctx.Err()
				}
			case "b3":
				defer close(other)
			}
			seen.add(m.Text)
			return nil
		}))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("a1", "111", "a1"), text("a2", "111", "a2"), text("b1", "222", "b1"))
		f.receive(t, ref, text("b2", "222", "b2"), text("a3", "111", "a3"), text("b3", "222", "b3"))
		f.handledAll(t)
		require.Equal(t, []string{"b1", "b2", "b3", "a1", "a2", "a3"}, seen.all())
	})
}

// TestOnMessage_MergedChats has two chats become one while messages of both wait.
func TestOnMessage_MergedChats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		f := setup(t, db, handled(func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			seen.add(m.Text)
			return reply.Text(ctx, "re "+m.Text)
		}, idle))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "one", from("", "u.1")), text("m2", "111", "two"))
		f.receive(t, ref, text("m3", "", "three", from("111", "u.1")))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))
		f.run(t)
		f.handledAll(t)
		require.ElementsMatch(t, []string{"one", "two"}, seen.all()[:2])
		require.Equal(t, "three", seen.all()[2])
		require.ElementsMatch(t, []string{"re one", "re two", "re three"}, f.sentTexts(t, ref))
	})
}

// TestOnMessage_RetriesAfterErrorAndPanic fails twice, each time after the first of two
// answers, which is sent once.
func TestOnMessage_RetriesAfterErrorAndPanic(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen, outcomes calls
		c := handled(func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			n := seen.add(m.Text)
			first, err := reply.Send(ctx, messaging.SendRequest{Content: provider.Text{Text: []string{"", "first", "other words", "third words", "next"}[n]}})
			if err != nil {
				return err
			}
			if first.Replayed != (n == 2 || n == 3) {
				return &messaging.Invalid{Field: "replayed", Message: "is wrong"}
			}
			switch n {
			case 1:
				return errors.New("the database of the program is away")
			case 2:
				panic("a mistake")
			}
			return reply.Text(ctx, "done")
		})
		options := c.options
		c.options = func(o *messaging.Options) {
			options(o)
			o.Observer = &messaging.Observer{Handled: func(kind provider.Kind, outcome string) { outcomes.add(string(kind) + " " + outcome) }}
		}
		f := setup(t, db, c)
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "one"), text("m2", "111", "two"))
		f.handledAll(t)
		require.Equal(t, []string{"one", "one", "one", "two"}, seen.all(), "the next message of the chat waits")
		require.Equal(t, []string{"first", "done", "next", "done"}, f.sentTexts(t, ref))
		f.stop()
		require.Equal(t, []string{"provider-test retried", "provider-test retried", "provider-test done", "provider-test done"}, outcomes.all())
	})
}

// TestOnMessage_CrashAfterReply leaves what a process leaves that died after an answer
// was stored and before the call ended.
func TestOnMessage_CrashAfterReply(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		replied := make(chan error, 1)
		first := setup(t, testkit.Open(t, url), handled(func(ctx context.Context, _ messaging.Message, reply *messaging.Replier) error {
			replied <- reply.Text(ctx, "from the first process")
			<-t.Context().Done() // the process is gone
			return nil
		}, idle))
		ref := first.reference(t, testKind)
		first.receive(t, ref, text("m1", "111", "hello"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- first.svc.Run(ctx) }()
		t.Cleanup(func() { // it comes back from the dead, too late for anything
			cancel()
			require.NoError(t, <-done)
		})
		require.NoError(t, <-replied)

		again := make(chan messaging.Sent, 1)
		second := setup(t, testkit.Open(t, url), config{net: first.net, clock: first.clock, options: func(o *messaging.Options) {
			o.Exclusive = true
			o.OnMessage = func(ctx context.Context, _ messaging.Message, reply *messaging.Replier) error {
				sent, err := reply.Send(ctx, messaging.SendRequest{Content: provider.Text{Text: "from the second process"}})
				if err == nil {
					again <- sent
				}
				return err
			}
		}})
		second.handledAll(t)
		sent := <-again
		require.True(t, sent.Replayed)
		require.Equal(t, "from the first process", sent.Message.Text)
		require.Equal(t, []string{"from the first process"}, second.sentTexts(t, ref))
	})
}

// TestOnMessage_FailsForGood ends the calls for a message by an error that a repeat
// cannot change, and by the number of calls.
func TestOnMessage_FailsForGood(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		f := setup(t, db, handled(func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			seen.add(m.Text)
			switch m.Text {
			case "invalid":
				return reply.Text(ctx, "")
			case "often":
				return errors.New("no luck with ana@example.org")
			}
			return nil
		}, idle))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "invalid"), text("m2", "111", "next"), text("m3", "222", "often"), text("m4", "222", "last"))
		_, err := db.ExecContext(t.Context(), `UPDATE queue_partition SET attempt = 14, since_us = 1 WHERE queue = 'inbound' AND key = $1`,
			f.sink.all(t)[2].Key) // it was called so often
		require.NoError(t, err)
		f.run(t)
		f.handledAll(t)
		require.ElementsMatch(t, []string{"invalid", "next", "often", "last"}, seen.all())
		for chat, want := range map[string]string{"111": "must", "222": "no luck"} {
			of := map[string]string{"111": "m1", "222": "m3"}[chat]
			x, err := f.acc.Explain(t.Context(), ref, chat, of)
			require.NoError(t, err)
			last := x.Steps[len(x.Steps)-1]
			require.Equal(t, messaging.StepHandled, last.Step)
			require.Equal(t, "failed", last.Outcome)
			require.Equal(t, "not_handled", last.Error.Code)
			require.Contains(t, last.Error.Message, want)
		}
	})
}

// TestOnMessage_Which receives what is no new message of a contact.
func TestOnMessage_Which(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		f := setup(t, db, handled(func(_ context.Context, m messaging.Message, _ *messaging.Replier) error {
			seen.add(m.ID)
			return nil
		}))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"),
			text("edit", "111", "better", func(m *provider.Message) { m.Edits = "m1" }),
			text("reaction", "111", "", func(m *provider.Message) { m.Content = provider.Reaction{MessageID: "m1", Emoji: "👍"} }),
			text("revoke", "111", "", func(m *provider.Message) { m.Content = provider.Revoke{MessageID: "m1"} }),
			text("echo", "111", "from the phone", func(m *provider.Message) { m.Mine = true }),
			text("old", "111", "history", func(m *provider.Message) { m.Historical = true }),
			text("sealed", "111", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: provider.Undecryptable} }),
			status("m1", provider.StatusRead))
		f.handledAll(t)
		require.Equal(t, []string{"m1"}, seen.all())
		f.receive(t, ref, text("sealed", "111", "it can be read now"))
		f.handledAll(t)
		require.Equal(t, []string{"m1", "sealed"}, seen.all())
	})
}

// TestOnMessage_None queues nothing without a handler. What another process has queued
// waits.
func TestOnMessage_None(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		require.Zero(t, waiting(t, db))

		called := make(chan string, 1)
		with := setup(t, db, handled(func(_ context.Context, m messaging.Message, _ *messaging.Replier) error {
			called <- m.ID
			return nil
		}, idle, func(c *config) { c.net, c.clock = f.net, f.clock }))
		with.receive(t, ref, text("m2", "111", "hello"))
		require.Equal(t, 1, waiting(t, db))
		f.run(t)
		f.send(t, say(ref, "hi")) // its workers work
		require.Equal(t, 1, waiting(t, db))
		with.run(t)
		require.Equal(t, "m2", <-called)
	})
}

// TestOnMessage_Deleted deletes a chat and a reference whose messages wait.
func TestOnMessage_Deleted(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		f := setup(t, db, handled(func(_ context.Context, m messaging.Message, _ *messaging.Replier) error {
			seen.add(m.Text)
			return nil
		}, idle))
		ref, gone := f.reference(t, testKind), f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "of a chat that is deleted"), text("m2", "222", "remains"))
		f.receive(t, gone, text("m1", "111", "of a reference that is deleted"))
		require.Equal(t, 3, waiting(t, db))
		require.NoError(t, f.acc.References().Delete(t.Context(), gone))
		require.Equal(t, 2, waiting(t, db), "the jobs go with the reference")
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "111"))
		f.run(t)
		f.handledAll(t)
		require.Equal(t, []string{"remains"}, seen.all())
	})
}

// TestOnMessage_Stops stops a service during a call: that is no failed attempt.
func TestOnMessage_Stops(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		begins := make(chan struct{}, 2)
		end := make(chan struct{})
		f := setup(t, db, handled(func(context.Context, messaging.Message, *messaging.Replier) error {
			begins <- struct{}{}
			<-end
			return nil
		}))
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		<-begins
		f.stopAfter(t, end)
		require.Zero(t, waiting(t, db))
		require.Empty(t, begins)
	})
}
