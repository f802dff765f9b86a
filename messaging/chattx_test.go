package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// watcher is a sink that keeps what it is told of chats.
type watcher struct {
	mu   sync.Mutex
	news []messaging.ChatUpdate
}

func (*watcher) EventsTx(context.Context, messaging.Tx, []messaging.Event) error { return nil }

func (w *watcher) ChatsTx(_ context.Context, _ messaging.Tx, news []messaging.ChatUpdate) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = append(w.news, news...)
	return nil
}

// take returns what was told since the last time.
func (w *watcher) take() []messaging.ChatUpdate {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.news
	w.news = nil
	return out
}

func watched(t testing.TB, db *sqlx.DB) (*fixture, *watcher) {
	t.Helper()
	w := &watcher{}
	return setup(t, db, config{options: func(o *messaging.Options) { o.Sinks = append(o.Sinks, w) }}), w
}

func TestChangesOfATransaction(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		in := func(end func(*sqlx.Tx) error, fn func(tx *sqlx.Tx)) {
			tx, err := db.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			defer tx.Rollback() //nolint:errcheck // it is over, unless a check failed
			fn(tx)
			require.NoError(t, end(tx))
		}
		change := messaging.ChatChange{
			Tags: []string{"vip"}, Language: ptr("pt-BR"), OptedOut: ptr(true),
			Fields: map[string]json.RawMessage{"plan": json.RawMessage(`"gold"`)}, Variables: map[string]json.RawMessage{"n": json.RawMessage(`1`)},
		}
		in((*sqlx.Tx).Rollback, func(tx *sqlx.Tx) {
			c, err := f.acc.UpdateChatTx(t.Context(), tx, ref, "111", change)
			require.NoError(t, err)
			require.Equal(t, []string{"vip"}, c.Tags)
		})
		require.Empty(t, f.chat(t, ref, "111").Tags, "it was undone")

		in((*sqlx.Tx).Commit, func(tx *sqlx.Tx) {
			_, err := f.acc.UpdateChatTx(t.Context(), tx, ref, "111", change)
			require.NoError(t, err)
			sent, err := f.acc.SendTx(t.Context(), tx, say(ref, "noted"))
			require.NoError(t, err)
			c, err := f.acc.ChatTx(t.Context(), tx, ref, "111")
			require.NoError(t, err)
			require.Equal(t, []string{"vip"}, c.Tags, "it sees what the transaction has done")
			require.Equal(t, sent.ID, c.LastMessage.ID)
			_, err = f.acc.UpdateChatTx(t.Context(), tx, ref, "111", messaging.ChatChange{Tags: append(c.Tags, "late")})
			require.NoError(t, err)
			_, err = f.acc.UpdateChatTx(t.Context(), tx, ref, "111", messaging.ChatChange{Tags: []string{""}})
			var bad *messaging.Invalid
			require.ErrorAs(t, err, &bad)
			_, err = f.acc.ChatTx(t.Context(), tx, ref, "999")
			require.ErrorIs(t, err, messaging.ErrNotFound)
		})
		c := f.chat(t, ref, "111")
		require.Equal(t, []string{"vip", "late"}, c.Tags)
		require.Equal(t, "pt-BR", *c.Language)
		require.True(t, c.OptedOut)
		require.JSONEq(t, `"gold"`, string(c.Fields["plan"]))
		require.JSONEq(t, `1`, string(c.Variables["n"]))
		f.until(t, "it is sent", func() bool { return len(f.net.texts()) == 1 })
	})
}

// TestChatIsLocked has two transactions add to the same list, one after the
// other because each reads it first.
func TestChatIsLocked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		var wg sync.WaitGroup
		tags := []string{"a", "b", "c", "d", "e"}
		for _, tag := range tags {
			wg.Go(func() {
				tx, err := db.BeginTxx(t.Context(), nil)
				if err != nil {
					return
				}
				defer tx.Rollback() //nolint:errcheck // it is over, unless something failed
				c, err := f.acc.ChatTx(t.Context(), tx, ref, "111")
				if err == nil {
					_, err = f.acc.UpdateChatTx(t.Context(), tx, ref, "111", messaging.ChatChange{Tags: append(c.Tags, tag)})
				}
				if err == nil {
					_ = tx.Commit()
				}
			})
		}
		wg.Wait()
		require.ElementsMatch(t, tags, f.chat(t, ref, "111").Tags)
	})
}

func TestNewsOfChats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, w := watched(t, db)
		ref := f.openChat(t, testKind)
		f.send(t, say(ref, "by program"))
		require.Empty(t, w.take(), "nothing of that changes who may answer")
		update := func(change messaging.ChatChange) {
			_, err := f.acc.UpdateChat(t.Context(), ref, "111", change)
			require.NoError(t, err)
		}
		update(messaging.ChatChange{Tags: []string{"vip"}})
		require.Empty(t, w.take())

		req := say(ref, "by hand")
		req.Actor = messaging.ActorUser
		f.send(t, req)
		taken := w.take()
		require.Len(t, taken, 1)
		require.Equal(t, messaging.ChatUpdate{Reference: ref, Key: taken[0].Key, ChatID: "111", BotActive: true, Handoff: epoch}, taken[0])
		require.Equal(t, f.sink.all(t)[0].Key, taken[0].Key, "the key is that of the chat's events")

		update(messaging.ChatChange{Handoff: "close", BotActive: ptr(false)})
		require.Equal(t, []messaging.ChatUpdate{{Reference: ref, Key: taken[0].Key, ChatID: "111", WasTaken: true}}, w.take())
	})
}

func TestNewsOfMergedChats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, w := watched(t, db)
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "as a user", from("", "u.1")))
		f.receive(t, ref, text("m2", "", "as a phone", from("111", "")))
		keys := []string{f.sink.all(t)[0].Key, f.sink.all(t)[1].Key}
		require.Empty(t, w.take())
		f.receive(t, ref, text("m3", "", "both", from("111", "u.1")))
		news := w.take()
		require.Len(t, news, 1)
		evs := f.sink.all(t)
		require.Equal(t, evs[2].Key, news[0].Key)
		require.Equal(t, "111", news[0].ChatID)
		require.Len(t, news[0].Merged, 1)
		require.ElementsMatch(t, keys, []string{news[0].Key, news[0].Merged[0]})
	})
}

func TestChatKey(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		for range 2 {
			key, id, err := f.acc.ChatKey(t.Context(), ref, "111")
			require.NoError(t, err)
			require.Equal(t, f.sink.all(t)[0].Key, key)
			require.Equal(t, "111", id)
		}
		fresh, id, err := f.acc.ChatKey(t.Context(), ref, "222")
		require.NoError(t, err)
		require.Equal(t, "222", id)
		f.receive(t, ref, text("m2", "222", "hello"))
		require.Equal(t, fresh, f.sink.all(t)[1].Key, "the chat that was made is the contact's")
		_, _, err = f.svc.For("stranger").ChatKey(t.Context(), ref, "111")
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

func TestChatByKey(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "as a user", from("", "u.1")))
		f.receive(t, ref, text("m2", "", "as a phone", from("111", "")))
		keys := []string{f.sink.all(t)[0].Key, f.sink.all(t)[1].Key}
		byKey := func(account, key string) (messaging.Chat, error) {
			tx, err := db.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			defer tx.Rollback() //nolint:errcheck // it only locks
			b, err := f.svc.BatchTx(tx)
			require.NoError(t, err)
			require.NoError(t, b.Lock(t.Context(), key))
			locked, inTx := b.Chat(account, key)
			require.NoError(t, tx.Rollback())
			c, err := f.svc.For(account).ChatByKey(t.Context(), key)
			require.Equal(t, c, locked)
			require.Equal(t, err, inTx)
			return c, err
		}
		c, err := byKey(messaging.OneAccount, keys[1])
		require.NoError(t, err)
		whole := f.chat(t, ref, "111")
		require.NotNil(t, whole.LastMessage)
		whole.LastMessage = nil
		require.Equal(t, whole, c)
		for _, key := range []string{"", "1", "x:y", fmt.Sprintf("%d:999999", ref), "999999:" + strings.TrimPrefix(keys[1], fmt.Sprintf("%d:", ref)), keys[1] + ":1"} {
			_, err := byKey(messaging.OneAccount, key)
			require.ErrorIs(t, err, messaging.ErrNotFound, key)
		}
		_, err = byKey("stranger", keys[1])
		require.ErrorIs(t, err, messaging.ErrNotFound)

		f.receive(t, ref, text("m3", "", "both", from("111", "u.1")))
		kept := f.sink.all(t)[2].Key
		for _, key := range keys {
			c, err := byKey(messaging.OneAccount, key)
			if key == kept {
				require.NoError(t, err)
				require.Equal(t, "111", c.ID)
				continue
			}
			require.ErrorIs(t, err, messaging.ErrNotFound, "it is another one now")
		}
	})
}

// teller is a sink that asks of each message whether it is its contact's first.
type teller struct {
	watcher
	svc       func() *messaging.Service
	published map[string]string
}

func (w *teller) EventsTx(ctx context.Context, tx messaging.Tx, evs []messaging.Event) error {
	known, err := w.svc().InboundMessagesTx(ctx, tx, evs)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ev := range evs {
		if a := known[ev.ID]; ev.Type == messaging.EventMessage {
			w.published[ev.MessageID] = fmt.Sprint(ev.Actor, " ", a.First, " ", a.Kind == testKind)
		}
	}
	return nil
}

func TestFirstMessageOfAContact(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := &teller{published: map[string]string{}}
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Sinks = append(o.Sinks, w) }})
		w.svc = func() *messaging.Service { return f.svc }
		ref := f.reference(t, testKind)
		f.receive(t, ref,
			text("old", "111", "long ago", func(m *provider.Message) { m.Historical = true }),
			text("m1", "111", "hello"), text("n1", "222", "hello"))
		f.receive(t, ref,
			text("o1", "111", "from the phone", func(m *provider.Message) { m.Mine = true }),
			text("m2", "111", "again"))
		require.Equal(t, map[string]string{
			"m1": "contact true true", "n1": "contact true true", "o1": "phone false true", "m2": "contact false true",
		}, w.published)
	})
}

func TestPersonTakesOver(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		require.Nil(t, f.chat(t, ref, "111").Handoff)
		byHand := func(id string) {
			f.receive(t, ref, text(id, "111", "I am here", func(m *provider.Message) { m.Mine = true }))
		}
		byHand("p1")
		h := f.chat(t, ref, "111").Handoff
		require.NotNil(t, h)
		require.Equal(t, h.Since.Add(messaging.TakeOver), h.Until.Time, "who only writes has it for a while")

		for _, c := range []struct {
			handoff string
			taken   bool
		}{{"take", true}, {"close", false}} {
			_, err := f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{Handoff: c.handoff})
			require.NoError(t, err)
			byHand("p-" + c.handoff)
			h = f.chat(t, ref, "111").Handoff
			require.NotNil(t, h)
			require.Equal(t, c.taken, h.Until == nil, c.handoff)
		}
	})
}

func TestBotAsksForAPerson(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, w := watched(t, db)
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		change := func(c messaging.ChatChange) messaging.Chat {
			got, err := f.acc.UpdateChat(t.Context(), ref, "111", c)
			require.NoError(t, err)
			return got
		}
		silent := func() bool { return f.chat(t, ref, "111").Handoff.Silent(time.Now()) }
		ask := &messaging.HandoffAsk{Target: "sales", Note: "wants a bicycle", Pause: true}
		bot := messaging.ActiveBot{Engine: "botengine", ID: "b1"}

		c := change(messaging.ChatChange{Ask: ask, ActiveBot: &bot})
		require.Equal(t, &bot, c.ActiveBot)
		require.False(t, c.Handoff.Taken)
		require.Equal(t, "sales", c.Handoff.Target)
		require.Equal(t, "wants a bicycle", c.Handoff.Note)
		require.True(t, silent(), "it asked for silence")
		require.Nil(t, change(messaging.ChatChange{EndAsk: true, ActiveBot: &messaging.ActiveBot{}}).Handoff)
		require.Nil(t, f.chat(t, ref, "111").ActiveBot)
		require.False(t, silent())

		change(messaging.ChatChange{Ask: &messaging.HandoffAsk{}})
		require.False(t, silent())
		w.take()
		f.receive(t, ref, text("p1", "111", "here I am", func(m *provider.Message) { m.Mine = true }))
		h := f.chat(t, ref, "111").Handoff
		require.True(t, h.Taken)
		require.Nil(t, h.Until, "who was asked has it until it is given back")
		require.True(t, silent())
		require.NotNil(t, change(messaging.ChatChange{EndAsk: true}).Handoff, "who has come stays")
		require.Nil(t, change(messaging.ChatChange{Handoff: "close"}).Handoff)
		news := w.take()
		last := news[len(news)-1]
		require.True(t, last.WasTaken && last.Handoff.IsZero(), "it was given back")
	})
}
