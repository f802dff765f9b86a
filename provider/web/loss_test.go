package web_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// texts are the texts that were stored, in order.
func (in *inbox) texts() (out []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.events {
		if m, ok := e.(*provider.Message); ok && m.Content.Type() == "text" {
			out = append(out, m.Content.(provider.Text).Text)
		}
	}
	return out
}

// once are the texts of the messages that came, each where it came first. One
// whose acknowledgement was lost with its connection comes again on the next,
// under the id by which package messaging knows it.
func (in *inbox) once() (out []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	seen := map[string]bool{}
	for _, e := range in.events {
		if m, ok := e.(*provider.Message); ok && m.Content.Type() == "text" && !seen[m.ID] {
			seen[m.ID] = true
			out = append(out, m.Content.(provider.Text).Text)
		}
	}
	return out
}

func saying(words string) func(*provider.Message) bool {
	return func(m *provider.Message) bool {
		t, ok := m.Content.(provider.Text)
		return ok && t.Text == words
	}
}

// flush waits until the network has all that the reference has said so far.
func (f *fixture) flush(t testing.TB, to *webtest.Phone) {
	t.Helper()
	require.NoError(t, f.session.(provider.Typist).Typing(soon(t), f.number(t, to), ""))
	_, err := to.AwaitTyping(soon(t), true)
	require.NoError(t, err)
}

// TestOfflineQueue has messages wait for a reference that is closed: they come in
// their order.
func TestOfflineQueue(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.close(t)
		require.NoError(t, f.device.AwaitGone(soon(t)))
		var want []string
		for i := range 5 {
			want = append(want, strconv.Itoa(i))
			_, err := ana.SendText(soon(t), f.owner.LID(), want[i])
			require.NoError(t, err)
		}
		f.open(t)
		f.inbox.state(t, provider.Connected)
		require.NoError(t, f.device.AwaitIdle(soon(t)))
		require.Equal(t, want, f.inbox.texts())
	})
}

// TestBacklog leaves a reference offline for so long that more waits for it than
// whatsmeow keeps in order at a time: it comes in order all the same.
func TestBacklog(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f, ana := paired(t, db), fake.AddPhone(nil)
	f.close(t)
	require.NoError(t, f.device.AwaitGone(soon(t)))
	want := make([]string, 2_500)
	for i := range want {
		want[i] = strconv.Itoa(i)
		_, err := ana.SendText(t.Context(), f.owner.LID(), want[i])
		require.NoError(t, err)
	}
	f.open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*timeout)
	defer cancel()
	require.NoError(t, f.device.AwaitIdle(ctx))
	require.Equal(t, want, f.inbox.once())
}

// TestOrder has a store that refuses the first of some messages: what is behind
// it is not stored before it.
func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.inbox.fail.Store(1)
		var want []string
		for i := range 8 {
			want = append(want, strconv.Itoa(i))
			_, err := ana.SendText(soon(t), f.owner.LID(), want[i])
			require.NoError(t, err)
		}
		await(t, f.inbox, saying("7"))
		require.NoError(t, f.device.AwaitIdle(soon(t)))
		require.Equal(t, want, f.inbox.texts())
	})
}

// TestCallIsNotLost is about what whatsmeow acknowledges whatever its handler
// says: nothing is, because the connection has ended by then.
func TestCallIsNotLost(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.inbox.fail.Store(1)
		call := ana.Calls().Ring(f.owner.LID(), false)
		await(t, f.inbox, func(c *provider.Call) bool { return c.CallID == call.ID })
		require.NoError(t, f.device.AwaitIdle(soon(t)))
	})
}

// TestDatabaseAway takes the keys away in the middle of a decryption: the
// message comes again when they are back, once, and before those behind it.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"whatsmeow_sessions", "whatsmeow_event_buffer"} {
		t.Run(table, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				f, ana := paired(t, db), fake.AddPhone(nil)
				f.says(t, ana, textMessage("before"))
				require.NoError(t, f.device.AwaitIdle(soon(t)))
				db.MustExec(`ALTER TABLE ` + table + ` RENAME TO web_away`)
				id, err := ana.SendText(soon(t), f.owner.LID(), "while it was away")
				require.NoError(t, err)
				await(t, f.inbox, func(c *provider.Connection) bool { return c.State == provider.Reconnecting })
				require.False(t, f.device.Acked(id))
				_, err = ana.SendText(soon(t), f.owner.LID(), "behind it")
				require.NoError(t, err)
				db.MustExec(`ALTER TABLE web_away RENAME TO ` + table)
				await(t, f.inbox, saying("behind it"))
				require.NoError(t, f.device.AwaitIdle(soon(t)))
				require.Equal(t, []string{"before", "while it was away", "behind it"}, f.inbox.texts())
				for _, a := range f.device.Acks() {
					require.NotEqual(t, "retry", a.Type, "it could be decrypted")
				}
			})
		})
	}
}

// TestNamesAway takes away by which a hidden id is known: a message under it
// alone would be another chat's.
func TestNamesAway(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, eve := paired(t, db), fake.AddPhone(&webtest.PhoneOptions{Hidden: true})
		_, err := f.owner.ShareMappings(soon(t), f.device, eve)
		require.NoError(t, err)
		chat := f.says(t, eve, textMessage("you know me")).Chat
		require.Equal(t, eve.JID().User, chat.Phone)
		f.inbox.clear()
		db.MustExec(`ALTER TABLE web_lid RENAME TO web_away`)
		id, err := eve.SendText(soon(t), f.owner.LID(), "and now?")
		require.NoError(t, err)
		f.inbox.state(t, provider.Reconnecting)
		db.MustExec(`ALTER TABLE web_away RENAME TO web_lid`)
		require.Equal(t, chat, f.inbox.message(t, id).Chat)
		require.Equal(t, 1, f.inbox.count(id))
	})
}

// TestPanic has a handler that panics: the process lives, and the message comes
// again with the next connection.
func TestPanic(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.inbox.panics.Store(true)
		id, err := ana.SendText(soon(t), f.owner.LID(), "surprise")
		require.NoError(t, err)
		testkit.Until(t, []*testsignal.Signal{&f.inbox.called}, func() bool { return !f.inbox.panics.Load() })
		f.flush(t, ana)
		require.False(t, f.device.Acked(id))
		f.device.Drop()
		f.inbox.message(t, id)
		require.NoError(t, f.device.AwaitAck(soon(t), id))
		require.Equal(t, 1, f.inbox.count(id))
	})
}

// TestNotLeased loses the reference in the middle of a receive: nothing is
// acknowledged and nothing is written, and the next holder gets the message.
func TestNotLeased(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		var lost atomic.Bool
		f.ref.Leased = func() bool { return !lost.Load() }
		f.open(t)
		f.link(t)
		ana := fake.AddPhone(nil)
		f.says(t, ana, textMessage("before"))
		require.NoError(t, f.device.AwaitIdle(soon(t)))
		before := f.keys(t)
		lost.Store(true)
		id, err := ana.SendText(soon(t), f.owner.LID(), "for the next holder")
		require.NoError(t, err)
		require.NoError(t, f.device.AwaitGone(soon(t)), "it hangs up by itself")
		require.Equal(t, before, f.keys(t))
		require.False(t, f.device.Acked(id))
		require.Zero(t, f.inbox.count(id))
		_, err = f.session.Send(soon(t), provider.Outbound{ID: f.p.NewMessageID(), To: f.number(t, ana), Content: provider.Text{Text: "no"}})
		require.Error(t, err)
		f.close(t)
		require.Equal(t, before, f.keys(t))

		f.ref.Leased = nil
		f.open(t)
		f.inbox.message(t, id)
		require.NoError(t, f.device.AwaitAck(soon(t), id))
		require.Equal(t, 1, f.inbox.count(id))
		require.Zero(t, f.conflicts())
	})
}

// keys is what the database holds of sessions with the devices of others.
func (f *fixture) keys(t testing.TB) (out []string) {
	t.Helper()
	require.NoError(t, f.db.Select(&out, `SELECT their_id FROM whatsmeow_sessions ORDER BY their_id`))
	var buffered, sessions [][]byte
	require.NoError(t, f.db.Select(&buffered, `SELECT ciphertext_hash FROM whatsmeow_event_buffer ORDER BY ciphertext_hash`))
	require.NoError(t, f.db.Select(&sessions, `SELECT session FROM whatsmeow_sessions ORDER BY their_id`))
	for _, b := range append(buffered, sessions...) {
		out = append(out, string(b))
	}
	return out
}

// TestDeaf has a connection that stands and carries nothing: it is given up.
func TestDeaf(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.inbox.clear()
		f.device.Deafen()
		require.Eventually(t, func() bool {
			f.clock.add(deafness) // again, for what was still on its way
			return f.inbox.has(provider.Reconnecting)
		}, timeout, time.Second)
		lost := f.inbox.state(t, provider.Reconnecting)
		require.Equal(t, provider.Deaf, lost.Reason)
		require.NotEmpty(t, lost.Detail)
		f.inbox.state(t, provider.Connected)
		f.says(t, ana, textMessage("can you hear me?"))
	})
}

// TestOwnPhone has the owner write on the phone, also to somebody new, and read
// there.
func TestOwnPhone(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
		id, err := f.owner.SendText(soon(t), ana.LID(), "from the phone")
		require.NoError(t, err)
		m := f.inbox.message(t, id)
		require.True(t, m.Mine)
		require.Equal(t, ana.JID().User, m.Chat.Phone)
		require.Equal(t, f.owner.JID().User, m.From.Phone)
		await(t, f.inbox, func(s *provider.StatusChange) bool { return s.MessageID == id && s.Status == provider.StatusDelivered })

		got := f.says(t, ana, textMessage("read this"))
		f.owner.Read(ana.LID(), ana.LID(), got.ID)
		await(t, f.inbox, func(s *provider.StatusChange) bool { return s.MessageID == got.ID && s.Status == provider.StatusRead })

		voice := f.answers(t, got.Chat, ana, file(provider.Audio, "audio/ogg", []byte("la la")))
		ana.Play(voice.Chat, voice.From, voice.ID)
		await(t, f.inbox, func(s *provider.StatusChange) bool {
			return s.MessageID == voice.ID && s.Status == provider.StatusPlayed
		})
	})
}

// TestSendIsRepeated loses the answer to a message: the repeat has its id, and
// the contact gets it once.
func TestSendIsRepeated(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		out := provider.Outbound{ID: f.p.NewMessageID(), To: f.number(t, ana), Content: provider.Text{Text: "once"}}
		f.device.Fail(webtest.Fault{Lost: true, Taken: true})
		ctx, cancel := context.WithCancel(soon(t))
		go func() {
			_, _ = ana.AwaitText(soon(t), "once")
			cancel()
		}()
		_, err := f.session.Send(ctx, out)
		var unsure *provider.Ambiguous
		require.ErrorAs(t, err, &unsure)
		require.ErrorIs(t, err, context.Canceled)
		_, err = f.session.Send(soon(t), out)
		require.NoError(t, err)
		require.Equal(t, 2, f.device.Sent(out.ID))
		require.Len(t, ana.Messages(), 1)
	})
}

// TestAskedAgain has a contact who cannot read a message and asks for it again
// when the reference was closed and opened meanwhile.
func TestAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(&webtest.PhoneOptions{Offline: true})
		id := f.send(t, f.number(t, ana), provider.Text{Text: "say again"})
		f.close(t)
		require.NoError(t, f.device.AwaitGone(soon(t)))
		ana.MakeUndecryptable(1)
		ana.SetOnline(true)
		f.open(t)
		m, err := ana.AwaitText(soon(t), "say again")
		require.NoError(t, err)
		require.Equal(t, id, m.ID)
		require.Equal(t, 1, m.Retries)
	})
}

// TestStoredFirst looks at what is acknowledged while something is being
// stored, whatever it is: nothing.
func TestStoredFirst(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner}})
		chat := f.says(t, ana, textMessage("hello")).Chat
		sent := f.answers(t, chat, ana, provider.Text{Text: "hi"})
		for name, do := range map[string]func() error{
			"message": func() error { _, err := ana.SendText(soon(t), f.owner.LID(), "keep me"); return err },
			"group":   func() error { _, err := ana.SendText(soon(t), g, "keep me, too"); return err },
			"receipt": func() error { ana.Read(sent.Chat, sent.From, sent.ID); return nil },
			"call":    func() error { ana.Calls().Ring(f.owner.LID(), false); return nil },
			"news":    func() error { return ana.Groups().Rename(g, "Sea trip") },
		} {
			require.NoError(t, f.device.AwaitIdle(soon(t)))
			f.inbox.slow.Store(true)
			require.NoError(t, do())
			<-f.inbox.came
			f.flush(t, ana)
			require.Positive(t, f.device.Pending(), name)
			f.inbox.done <- struct{}{}
		}
		require.NoError(t, f.device.AwaitIdle(soon(t)))
	})
}
