package messaging_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// from makes a message come from somebody with a phone, a user id, or both.
func from(phone, user string) func(*provider.Message) {
	return func(m *provider.Message) {
		a := provider.Address{ChatID: phone, Phone: phone, UserID: user}
		if phone == "" {
			a.ChatID = user
		}
		m.Chat, m.From = a, provider.Contact{Address: a}
	}
}

func TestPhoneIsLearnedLater(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "hello", from("", "u.1")))
		require.Nil(t, f.chat(t, ref, "u.1").Phone)
		require.JSONEq(t, `"u.1::single"`, member(t, f.sink.all(t)[0].Payload, "remoteJid"))

		f.receive(t, ref, text("m2", "", "again", from("111", "u.1")))
		for _, id := range []string{"u.1", "111"} {
			c := f.chat(t, ref, id)
			require.Equal(t, "111", c.ID, "the phone names the chat")
			require.EqualValues(t, 2, c.Unread)
			require.Len(t, f.messages(t, ref, id), 2)
		}
		f.receive(t, ref, text("m3", "", "without phone", from("", "u.1")))
		require.Len(t, f.messages(t, ref, "111"), 3)
		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "u.1", Wait: timeout})
		require.Equal(t, "111", sent.ChatID)
		require.Equal(t, provider.Address{ChatID: "111", Phone: "111", UserID: "u.1"}, f.net.attempts()[0].To)
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))
	})
}

func member(t testing.TB, object json.RawMessage, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &members))
	return string(members[name])
}

func TestTwoChatsAreFoundToBeOne(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "by id", from("", "u.1")), text("m2", "", "by phone", from("111", "")))
		set := func(chat string, change messaging.ChatChange) {
			f.clock.Advance(time.Minute)
			_, err := f.acc.UpdateChat(t.Context(), ref, chat, change)
			require.NoError(t, err)
		}
		set("111", messaging.ChatChange{
			Variables: map[string]json.RawMessage{"a": json.RawMessage(`"old"`), "b": json.RawMessage(`1`)}, BotActive: ptr(false), Tags: []string{"x"},
		})
		set("u.1", messaging.ChatChange{
			Variables: map[string]json.RawMessage{"a": json.RawMessage(`"new"`), "c": json.RawMessage(`2`)}, OptedOut: ptr(true), Tags: []string{"y", "x"},
		})
		// A status of a message of the chat that goes away comes in the same batch.
		f.receive(t, ref, text("m3", "", "both", from("111", "u.1")), status("m1", provider.StatusRead))

		for _, id := range []string{"u.1", "111"} {
			c := f.chat(t, ref, id)
			require.Equal(t, "111", c.ID)
			require.EqualValues(t, 2, c.Unread, "one of three was read")
			require.Equal(t, map[string]json.RawMessage{"a": json.RawMessage(`"new"`), "b": json.RawMessage(`1`), "c": json.RawMessage(`2`)}, c.Variables)
			require.Zero(t, c.BotActive)
			require.True(t, c.OptedOut)
			require.Equal(t, []string{"x", "y"}, c.Tags)
			require.Len(t, f.messages(t, ref, id), 3)
			require.Equal(t, "both", c.LastMessage.Text)
		}
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))
		require.Equal(t, []string{"message:DELIVERED", "status:READ"}, f.sink.of(t, "m1"))
		feed, err := f.acc.Changes(t.Context(), 0, beginning)
		require.NoError(t, err)
		for e := range entries(t, feed) {
			if member(t, e.Data, "mergedFrom") != "" {
				require.Equal(t, "chat", e.Kind)
				require.JSONEq(t, fmt.Sprintf(`{"reference":%d,"chatId":"111","mergedFrom":"u.1"}`, ref), string(e.Data))
				return
			}
		}
	})
}

// TestChatsMergeUnderLoad lets many transactions at once learn who is who.
func TestChatsMergeUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		a := setup(t, testkit.Open(t, url), config{idle: true})
		b := setup(t, testkit.Open(t, url), config{idle: true})
		ref := a.reference(t, testKind)
		const people, rounds = 4, 12
		var all sync.WaitGroup
		for w := range 6 {
			svc := a.svc
			if w%2 == 1 {
				svc = b.svc
			}
			all.Go(func() {
				for i := range rounds {
					p := (i + w) % people
					phone, user := fmt.Sprintf("11%d", p), fmt.Sprintf("u.%d", p)
					who := []func(*provider.Message){from(phone, ""), from("", user), from(phone, user)}[(i/people+w)%3]
					id := fmt.Sprintf("m.%d.%d", w, i)
					assert.NoError(t, svc.Receive(t.Context(), ref, []provider.Event{text(id, "", "x", who), status(id, provider.StatusRead)}))
				}
			})
		}
		all.Wait()
		for p := range people { // whatever was not learned under load is now
			a.receive(t, ref, text(fmt.Sprintf("last.%d", p), "", "x", from(fmt.Sprintf("11%d", p), fmt.Sprintf("u.%d", p))))
		}
		require.Equal(t, people, count(t, a.db, `SELECT count(*) FROM messaging_chat`))
		require.Equal(t, 6*rounds+people, count(t, a.db, `SELECT count(*) FROM messaging_message m JOIN messaging_chat c ON c.id = m.chat`))
		for p := range people {
			c := a.chat(t, ref, fmt.Sprintf("u.%d", p))
			require.Equal(t, fmt.Sprintf("11%d", p), c.ID)
			require.EqualValues(t, 1, c.Unread)
		}
	})
}

// TestSendsOfMergedChats has two chats become one while a send of each is in hand
// and another waits behind it: what is sent to the one chat goes out after all
// of them.
func TestSendsOfMergedChats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "by id", from("", "u.1")), text("m2", "", "by phone", from("111", "")))
		free := map[string]chan struct{}{"old 1": make(chan struct{}), "new 1": make(chan struct{})}
		f.net.script(func(ctx netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			if wait := free[plainText(out.Content)]; wait != nil {
				if err := released(ctx, wait); err != nil {
					return provider.Receipt{}, err
				}
			}
			return f.net.taken(out), nil
		})
		send := func(chat, words string) {
			f.send(t, messaging.SendRequest{Reference: ref, ChatID: chat, Content: provider.Text{Text: words}})
		}
		send("u.1", "old 1")
		send("u.1", "old 2")
		send("111", "new 1")
		send("111", "new 2")
		f.until(t, "both go out", func() bool { return len(f.net.texts()) == 2 })
		f.receive(t, ref, text("m3", "", "both", from("111", "u.1")))
		send("111", "both 1")
		send("u.1", "both 2")
		close(free["new 1"]) // which the chat that stays has in hand
		close(free["old 1"])
		f.until(t, "all go out", func() bool { return len(f.net.texts()) == 6 })
		got := f.net.texts()
		require.ElementsMatch(t, []string{"old 1", "old 2", "new 1", "new 2"}, got[:4])
		require.Less(t, slices.Index(got, "old 1"), slices.Index(got, "old 2"))
		require.Less(t, slices.Index(got, "new 1"), slices.Index(got, "new 2"))
		require.Equal(t, []string{"both 1", "both 2"}, got[4:])
	})
}

func TestNetworkNamesTheContactInItsAnswer(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "hello", from("5511988887777", "u.1")))
		template := provider.Template{Template: provider.TemplateCall{Name: "hi", Language: provider.TemplateLanguage{Code: "pt"}}}
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			r := f.net.taken(out)
			r.To = &provider.Address{ChatID: "5511988887777", Phone: "5511988887777", UserID: "u.1"}
			return r, nil
		})
		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "551188887777", Content: template, Wait: timeout})
		require.Equal(t, "5511988887777", sent.ChatID, "the number was written in another way")
		for _, id := range []string{"551188887777", "5511988887777", "u.1"} {
			require.Len(t, f.messages(t, ref, id), 2)
		}
	})
}
