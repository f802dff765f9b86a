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
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// openChat is a reference of kind with a chat whose window is open.
func (f *fixture) openChat(t testing.TB, kind provider.Kind, chats ...string) provider.ReferenceID {
	t.Helper()
	ref := f.reference(t, kind)
	for _, c := range append(chats, "111") {
		f.receive(t, ref, text("open."+c, c, "hello"))
	}
	return ref
}

// say is a text to chat 111 that waits for its first attempt.
func say(ref provider.ReferenceID, words string) messaging.SendRequest {
	return messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: words}, Wait: timeout}
}

func TestSend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		req := say(ref, "hi")
		req.Wait = 0
		m := f.send(t, req)
		require.Equal(t, "PENDING", m.Status)
		require.True(t, strings.HasPrefix(m.ID, "out-"), m.ID)
		require.Empty(t, f.sink.of(t, m.ID), "nothing is said of it before the network took it")
		waiting, _, err := f.svc.QueueStats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, waiting)

		f.run(t)
		f.until(t, "it is taken", func() bool { return len(f.sink.all(t)) == 2 })
		sent := f.messages(t, ref, "111")[0]
		require.Equal(t, "net.1", sent.ID)
		require.Equal(t, "SENDING", sent.Status)
		require.Equal(t, messaging.ActorAPI, sent.Actor)
		require.Equal(t, "out", sent.Direction)
		require.Equal(t, m.ID, f.net.attempts()[0].ID, "our id goes with it")
		f.receive(t, ref, status("net.1", provider.StatusDelivered), status("net.1", provider.StatusRead))
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, "net.1"))
		require.Equal(t, "net.1", f.chat(t, ref, "111").LastMessage.ID)

		// Our id stays an alias.
		req = say(ref, "to that")
		req.ReplyTo = m.ID
		f.send(t, req)
		require.Equal(t, "net.1", f.net.attempts()[1].ReplyTo)
		_, err = f.acc.MarkRead(t.Context(), ref, "111", m.ID)
		require.NoError(t, err)
		req.ReplyTo = "nothing"
		_, err = f.acc.Send(t.Context(), req)
		var missing *messaging.Missing
		require.ErrorAs(t, err, &missing)
		require.Equal(t, "context.messageId", missing.Field)
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

func TestSendWithChosenIDs(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, ownIDsKind)
		m := f.send(t, say(ref, "hi"))
		require.True(t, strings.HasPrefix(m.ID, "own."), m.ID)
		require.Equal(t, m.ID, f.net.attempts()[0].ID)

		// What may have left is repeated with the same id: the network knows it.
		free := make(chan struct{})
		f.net.failUntil(free, &provider.Ambiguous{Err: errors.New("cut")}, errors.New("anything"))
		m = f.send(t, say(ref, "again"))
		require.Equal(t, "PENDING", m.Status)
		require.Nil(t, m.Error)
		close(free)
		f.until(t, "it is repeated", func() bool { return f.message(t, ref, "111", m.ID).Status == "SENDING" })
		got := f.net.attempts()[1:]
		require.Len(t, got, 3)
		for _, out := range got {
			require.Equal(t, m.ID, out.ID)
		}
	})
}

func TestRefusedByTheNetwork(t *testing.T) {
	t.Parallel()
	cases := []struct {
		err  error
		code string // of the error
		kept messaging.Failure
	}{
		{&provider.Rejected{Code: "131009", Message: "Parameter value is not valid"}, messaging.CodeProvider, messaging.Failure{Code: "131009", Message: "Parameter value is not valid"}},
		{&provider.BadRecipient{Code: "131026", Message: "Undeliverable"}, messaging.CodeProvider, messaging.Failure{Code: "131026", Message: "Undeliverable"}},
		{&provider.WindowClosed{Code: "131047", Message: "More than 24 hours"}, messaging.CodeWindowClosed, messaging.Failure{Code: "window_closed", Message: "More than 24 hours"}},
		{&provider.Unsupported{What: "a text of 5000 characters"}, messaging.CodeUnsupported, messaging.Failure{Code: "unsupported", Message: "The reference cannot send a text of 5000 characters."}},
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		for i, c := range cases {
			f.net.fail(c.err)
			sent, err := f.acc.Send(t.Context(), say(ref, fmt.Sprint("m", i)))
			refused := requireCode(t, err, c.code)
			require.Equal(t, c.kept.Message, refused.Message)
			require.Equal(t, refused.MessageID, sent.Message.ID)
			kept := f.message(t, ref, "111", refused.MessageID)
			require.Equal(t, "FAIL", kept.Status)
			require.Equal(t, &c.kept, kept.Error)
			require.Equal(t, []string{"message:FAIL"}, f.sink.of(t, kept.ID))
		}
		require.Len(t, f.net.attempts(), len(cases), "none is repeated")
	})
}

func TestCredentialsAreLost(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		f.net.fail(&provider.AuthExpired{Code: "190", Message: "Token expired"})
		_, err := f.acc.Send(t.Context(), say(ref, "hi"))
		requireCode(t, err, messaging.CodeProvider)
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateFailed, s.State)
		require.Equal(t, "credentials", s.LastError.Code)
		require.Equal(t, "Token expired", s.LastError.Message)
		_, err = f.acc.Send(t.Context(), say(ref, "again"))
		requireCode(t, err, messaging.CodeSessionNotConnected)
		require.Len(t, f.net.attempts(), 1)
	})
}

// TestRetries keeps the order of a chat while the network refuses for now, and
// lets other chats pass.
func TestRetries(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref, free := f.openChat(t, testKind, "222"), make(chan struct{})
		f.net.script(func(ctx netctx, out provider.Outbound, attempt int) (provider.Receipt, error) {
			switch {
			case plainText(out.Content) == "one" && attempt == 1:
				return provider.Receipt{}, &provider.Temporary{Err: errors.New("busy"), After: 300 * time.Millisecond}
			case plainText(out.Content) == "one" && attempt == 2:
				return provider.Receipt{}, &provider.RateLimited{After: 200 * time.Millisecond, Code: "130429"}
			case plainText(out.Content) == "one":
				if err := released(ctx, free); err != nil {
					return provider.Receipt{}, err
				}
			}
			return f.net.taken(out), nil
		})
		started := time.Now()
		first := f.send(t, say(ref, "one"))
		require.Equal(t, "PENDING", first.Status, "the first attempt is over")
		close(free)
		for _, w := range []string{"two", "three"} {
			req := say(ref, w)
			req.Wait = 0
			f.send(t, req)
		}
		other := say(ref, "other")
		other.ChatID = "222"
		require.Equal(t, "SENDING", f.send(t, other).Status)
		f.until(t, "all are taken", func() bool { return len(f.net.texts()) == 6 })
		require.GreaterOrEqual(t, time.Since(started), 500*time.Millisecond, "the network's pauses are kept")
		var chat []string
		for _, out := range f.net.attempts() {
			if out.To.ChatID == "111" {
				chat = append(chat, plainText(out.Content))
			}
		}
		require.Equal(t, []string{"one", "one", "one", "two", "three"}, chat)
		f.until(t, "the last is recorded", func() bool { return f.messages(t, ref, "111")[0].Status == "SENDING" })
		got := f.messages(t, ref, "111")
		require.Equal(t, "three", got[0].Text)
		require.Equal(t, "one", got[2].Text)
		require.Equal(t, []string{"message:SENDING"}, f.sink.of(t, got[2].ID))
	})
}

// TestHangingNetwork holds one chat with a network that does not answer.
func TestHangingNetwork(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind, "222")
		release := make(chan struct{})
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			if plainText(out.Content) == "hangs" {
				<-release
			}
			return f.net.taken(out), nil
		})
		hanging := say(ref, "hangs")
		hanging.Wait = 10 * time.Millisecond
		m := f.send(t, hanging)
		require.Equal(t, "PENDING", m.Status)
		require.Nil(t, m.Error)
		behind := say(ref, "behind")
		behind.Wait = 0
		f.send(t, behind)
		for range 3 {
			other := say(ref, "other")
			other.ChatID = "222"
			require.Equal(t, "SENDING", f.send(t, other).Status, "other chats pass")
		}
		require.NotContains(t, f.net.texts(), "behind")
		close(release)
		f.until(t, "the chat goes on", func() bool { return f.messages(t, ref, "111")[0].Status == "SENDING" })
		require.Equal(t, "SENDING", f.messages(t, ref, "111")[1].Status)
	})
}

// TestUnconfirmed is about messages that may have left.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		uncertain := func(words string) messaging.Message {
			f.net.fail(&provider.Ambiguous{Err: errors.New("cut")})
			m := f.send(t, say(ref, words))
			require.Equal(t, "PENDING", m.Status)
			require.Equal(t, "unconfirmed", m.Error.Code)
			require.Empty(t, f.sink.of(t, m.ID))
			return m
		}
		completed, lost, late := uncertain("settled"), uncertain("lost"), uncertain("late")
		f.net.script(nil)
		require.Equal(t, "SENDING", f.send(t, say(ref, "after")).Status, "it holds nothing back")

		f.receive(t, ref, &provider.StatusChange{MessageID: "net.x", OwnID: completed.ID, Status: provider.StatusSending})
		require.Equal(t, []string{"message:SENDING"}, f.sink.of(t, "net.x"))
		require.Nil(t, f.message(t, ref, "111", "net.x").Error)

		f.clock.Advance(9 * time.Minute)
		require.NoError(t, f.svc.EndDoubts(t.Context()))
		require.Equal(t, "PENDING", f.message(t, ref, "111", lost.ID).Status)
		f.clock.Advance(time.Minute)
		require.NoError(t, f.svc.EndDoubts(t.Context()))
		for _, m := range []messaging.Message{lost, late} {
			got := f.message(t, ref, "111", m.ID)
			require.Equal(t, "FAIL", got.Status)
			require.Equal(t, "unconfirmed", got.Error.Code)
			require.Equal(t, []string{"message:FAIL"}, f.sink.of(t, m.ID))
		}
		f.receive(t, ref, &provider.StatusChange{MessageID: "net.y", OwnID: late.ID, Status: provider.StatusDelivered})
		got := f.message(t, ref, "111", late.ID)
		require.Equal(t, "DELIVERED", got.Status)
		require.Nil(t, got.Error)
		require.Equal(t, []string{"message:FAIL", "status:DELIVERED"}, f.sink.of(t, late.ID))
		require.Equal(t, []string{"settled", "lost", "late", "after"}, f.net.texts(), "nothing is sent twice")
	})
}

// TestEchoTakesTheID is about a network that shows the account's own message
// as a new one before it has answered.
func TestEchoTakesTheID(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			f.receive(t, ref, text("echo", "111", "hi", func(m *provider.Message) { m.Mine = true }),
				&provider.StatusChange{MessageID: "echo", Status: provider.StatusDelivered})
			return provider.Receipt{MessageID: "echo"}, nil
		})
		m := f.send(t, say(ref, "hi"))
		require.Equal(t, "SENDING", m.Status)
		require.True(t, strings.HasPrefix(m.ID, "out-"), "the id is another message's")
		f.receive(t, ref, text("echo2", "111", "hi", func(m *provider.Message) { m.Mine = true }),
			&provider.StatusChange{MessageID: "echo2", OwnID: m.ID, Status: provider.StatusDelivered})
		require.Len(t, f.net.attempts(), 1)
	})
}

func TestRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		with := func(c provider.Content) messaging.SendRequest {
			req := say(ref, "")
			req.Content = c
			return req
		}
		messages := count(t, db, `SELECT count(*) FROM messaging_message`)

		_, err := f.acc.Send(t.Context(), with(provider.Location{Latitude: 1}))
		requireCode(t, err, messaging.CodeUnsupported)
		check, err := f.acc.Check(t.Context(), with(provider.Location{Latitude: 1}))
		require.NoError(t, err)
		require.False(t, check.Allowed)
		require.Equal(t, messaging.CodeUnsupported, *check.Reason)
		_, err = f.acc.Send(t.Context(), with(nil))
		requireInvalid(t, err, "message")
		_, err = f.acc.Send(t.Context(), with(provider.Text{}))
		requireInvalid(t, err, "message.text")
		bad := say(ref, "hi")
		bad.ChatID = "nobody\x00"
		_, err = f.acc.Send(t.Context(), bad)
		requireInvalid(t, err, "chatId")

		f.clock.Advance(24 * time.Hour)
		_, err = f.acc.Send(t.Context(), say(ref, "late"))
		refused := requireCode(t, err, messaging.CodeWindowClosed)
		require.Contains(t, refused.Message, "template")
		check, err = f.acc.Check(t.Context(), say(ref, "late"))
		require.NoError(t, err)
		require.Equal(t, messaging.CodeWindowClosed, *check.Reason)
		require.Equal(t, epoch.Add(24*time.Hour-time.Second), check.WindowExpiresAt.Time)
		stranger := say(ref, "who")
		stranger.ChatID = "333"
		_, err = f.acc.Send(t.Context(), stranger)
		requireCode(t, err, messaging.CodeWindowClosed)
		require.Equal(t, messages, count(t, db, `SELECT count(*) FROM messaging_message`), "nothing is stored")
		require.Empty(t, f.net.attempts())

		template := provider.Template{Template: provider.TemplateCall{Name: "hello", Language: provider.TemplateLanguage{Code: "en"}}}
		check, err = f.acc.Check(t.Context(), with(template))
		require.NoError(t, err)
		require.Equal(t, messaging.SendCheck{Allowed: true, SentAs: "template", WindowExpiresAt: check.WindowExpiresAt}, check)
		require.Equal(t, "Template hello (en)", f.send(t, with(template)).Text)
	})
}

func TestChoicesBecomeText(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		for content, want := range map[string]string{
			`{"type":"buttons","text":"Tea?","buttons":[{"id":"y","title":"Yes"},{"id":"n","title":"No"}]}`:                                                                "Tea?\n1. Yes\n2. No",
			`{"type":"list","text":"Which?","button":"See","sections":[{"rows":[{"id":"g","title":"Green","description":"mild"}]},{"rows":[{"id":"b","title":"Black"}]}]}`: "Which?\n1. Green – mild\n2. Black",
		} {
			c, err := messaging.DecodeContent(json.RawMessage(content))
			require.NoError(t, err)
			req := say(ref, "")
			req.Content = c
			check, err := f.acc.Check(t.Context(), req)
			require.NoError(t, err)
			require.True(t, check.Allowed)
			require.Equal(t, "text", check.SentAs)
			m := f.send(t, req)
			require.Equal(t, "text", m.SentAs)
			require.Equal(t, want, m.Text)
			texts := f.net.texts()
			require.Equal(t, want, texts[len(texts)-1])
		}
		// A reference that has them sends them as they are.
		box := f.reference(t, sandbox.Kind)
		c, err := messaging.DecodeContent(json.RawMessage(`{"type":"buttons","text":"Tea?","buttons":[{"id":"y","title":"Yes"}]}`))
		require.NoError(t, err)
		m := f.send(t, messaging.SendRequest{Reference: box, ChatID: "ana", Content: c, Wait: timeout})
		require.Empty(t, m.SentAs)
		screen, err := f.acc.Screen().List(t.Context(), box, "ana", messaging.List{})
		require.NoError(t, err)
		require.Equal(t, "buttons", screen.Items[0].Type)
		require.JSONEq(t, `{"type":"buttons","text":"Tea?","buttons":[{"id":"y","title":"Yes"}]}`, string(screen.Items[0].Content))
	})
}

func TestSendTx(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		in := func(end func(*sqlx.Tx) error, texts ...string) {
			tx, err := db.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			for _, w := range texts {
				m, err := f.acc.SendTx(t.Context(), tx, say(ref, w))
				require.NoError(t, err)
				require.Equal(t, "PENDING", m.Status)
			}
			require.NoError(t, end(tx))
		}
		in((*sqlx.Tx).Rollback, "undone")
		other := testkit.Open(t, url) // a transaction of another handle will do
		tx, err := other.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		_, err = f.acc.SendTx(t.Context(), tx, say(ref, "undone, too"))
		require.NoError(t, err)
		require.NoError(t, tx.Rollback())
		in((*sqlx.Tx).Commit, "one", "two")
		f.until(t, "both are taken", func() bool { return len(f.net.texts()) == 2 })
		require.Equal(t, []string{"one", "two"}, f.net.texts())
		require.Len(t, f.messages(t, ref, "111"), 3)
	})
}

func TestUserTakesOver(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		f.send(t, say(ref, "by program"))
		require.Nil(t, f.chat(t, ref, "111").Handoff)
		req := say(ref, "by hand")
		req.Actor = messaging.ActorUser
		require.Equal(t, messaging.ActorUser, f.send(t, req).Actor)
		require.Equal(t, epoch, f.chat(t, ref, "111").Handoff.Since.Time)
		c, err := f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{Handoff: "close"})
		require.NoError(t, err)
		require.Nil(t, c.Handoff)
	})
}
