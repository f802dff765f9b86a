package messaging_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// phone is the address of a number.
func phone(number string) provider.Address {
	return provider.Address{ChatID: number, Phone: number}
}

func rawID(id string) provider.Raw {
	return provider.Raw{ID: id, Kind: "test", Body: []byte(`{"a":1}`)}
}

// contact is a change of a contact, minutes after the epoch.
func contact(what provider.ContactChangeKind, of string, minute int, change ...func(*provider.ContactChange)) *provider.ContactChange {
	at := epoch.Add(time.Duration(minute) * time.Minute)
	c := &provider.ContactChange{Raw: rawID(fmt.Sprint(what, of, minute)), What: what, Chat: phone(of), At: at}
	for _, fn := range change {
		fn(c)
	}
	return c
}

func to(number string) func(*provider.ContactChange) {
	return func(c *provider.ContactChange) { c.To = phone(number) }
}

// news are the entries of a kind that were written to the stream.
func (f *fixture) news(t *testing.T, kind string) []json.RawMessage {
	t.Helper()
	var data []string
	require.NoError(t, f.db.SelectContext(t.Context(), &data, `SELECT data FROM messaging_change WHERE kind = $1 ORDER BY txid, id`, kind))
	out := []json.RawMessage{}
	for _, d := range data {
		out = append(out, json.RawMessage(d))
	}
	return out
}

// TestCallsTakeTheirSteps: one event for each step that a call takes, whatever
// comes twice or late.
func TestCallsTakeTheirSteps(t *testing.T) {
	t.Parallel()
	call := func(raw, id string, s provider.CallStatus) *provider.Call {
		return &provider.Call{
			Raw: rawID(raw), CallID: id, Chat: phone("111"), From: provider.Contact{Address: phone("111"), Name: "Ana"}, Status: s, Video: true, At: epoch,
		}
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for range 2 {
			f.receive(t, ref, call("1", "c1", provider.CallRinging), call("2", "c1", provider.CallRinging))
			f.receive(t, ref, call("3", "c1", provider.CallEnded), call("4", "c1", provider.CallAccepted), call("5", "c1", provider.CallMissed))
			f.receive(t, ref, call("6", "c2", provider.CallMissed))
		}
		f.receive(t, ref, call("7", "", provider.CallMissed), call("8", "c3", "sneezed"))
		var got []string
		for _, e := range f.sink.all(t) {
			require.Equal(t, messaging.EventCalls, e.Type)
			require.Equal(t, "111", e.ChatID)
			require.Empty(t, e.MessageID)
			got = append(got, member(t, e.Payload, "id")+member(t, e.Payload, "status"))
		}
		require.Equal(t, []string{`"c1""ringing"`, `"c1""ended"`, `"c2""missed"`}, got)
		f.receive(t, ref, call("9", "c4", provider.CallAccepted), call("10", "c4", provider.CallMissed))
		taken := f.sink.all(t)[len(got):]
		require.Len(t, taken, 2)
		require.Equal(t, `"ended"`, member(t, taken[1].Payload, "status"), "a call that was taken is not missed")
		golden(t, "payload-call-ringing.json", f.sink.all(t)[0].Payload)
		c := f.chat(t, ref, "111")
		require.Equal(t, "Ana", c.Name)
		require.Equal(t, epoch.Add(24*time.Hour), c.WindowExpiresAt.Time, "a call opens the window")
		require.Zero(t, c.Unread)
		page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Equal(t, 2, count(t, db, `SELECT count(*) FROM messaging_raw WHERE body <> ''`), "the two that say nothing")
	})
}

// TestChatFollowsItsContact: a changed number keeps the chat, and both numbers
// lead to it.
func TestChatFollowsItsContact(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		_, err := f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{Tags: []string{"vip"}})
		require.NoError(t, err)
		moved := contact(provider.ContactMoved, "111", 1, to("222"))
		for range 2 {
			f.receive(t, ref, moved)
		}
		for _, id := range []string{"111", "222"} {
			c := f.chat(t, ref, id)
			require.Equal(t, "222", c.ID)
			require.Equal(t, "222", *c.Phone)
			require.Equal(t, []string{"vip"}, c.Tags)
			require.Len(t, f.messages(t, ref, id), 1)
		}
		f.receive(t, ref, text("m2", "222", "it is me"), text("m3", "111", "late"))
		evs := f.sink.all(t)
		require.Equal(t, `"222::single"`, member(t, evs[2].Payload, "remoteJid"))
		require.Equal(t, evs[0].Key, evs[2].Key)
		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		require.Equal(t, "222", sent.ChatID)
		require.Equal(t, "222", f.net.attempts()[0].To.Phone)
		news := f.news(t, "chat")
		require.JSONEq(t, fmt.Sprintf(`{"reference":%d,"chatId":"222","mergedFrom":"111"}`, ref), string(news[len(news)-1]))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))

		f.receive(t, ref, text("n1", "333", "before the news"), text("n2", "444", "before the news"))
		f.receive(t, ref, contact(provider.ContactMoved, "444", 9, to("555")), contact(provider.ContactMoved, "333", 8, to("444")))
		for _, id := range []string{"333", "444", "555"} { // the later change came first
			require.Equal(t, "555", f.chat(t, ref, id).ID)
			require.Len(t, f.messages(t, ref, id), 2)
		}
		f.receive(t, ref, contact(provider.ContactMoved, "555", 10, to("333")))
		require.Equal(t, "333", f.chat(t, ref, "555").ID, "and back")
	})
}

// TestUserIDChanges: a chat without a known number follows its user id.
func TestUserIDChanges(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "hello", from("", "u.1")))
		f.receive(t, ref, contact(provider.ContactMoved, "", 1, func(c *provider.ContactChange) {
			c.Chat, c.To = provider.Address{ChatID: "u.1", UserID: "u.1"}, provider.Address{ChatID: "u.2", UserID: "u.2"}
		}))
		require.Equal(t, "u.2", f.chat(t, ref, "u.1").ID)
		f.receive(t, ref, text("m2", "", "and my number", from("111", "u.2")))
		require.Equal(t, "111", f.chat(t, ref, "u.1").ID)
		require.Len(t, f.messages(t, ref, "111"), 2)
	})
}

// TestPhoneBookNamesContacts: a name of the account's phone book comes before
// the contact's own. Whoever has not written is not listed.
func TestPhoneBookNamesContacts(t *testing.T) {
	t.Parallel()
	named := func(name string) func(*provider.ContactChange) {
		return func(c *provider.ContactChange) { c.Name = name }
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, contact(provider.ContactSaved, "111", 1, named("Ana from work")), contact(provider.ContactSaved, "222", 1, named("Bob")))
		require.Empty(t, f.news(t, "chat"), "a phone book of thousands says nothing")
		f.receive(t, ref, text("m1", "111", "hi", func(m *provider.Message) { m.From.Name, m.From.Username = "ana ✨", "ana.l" }))
		list := func(search string) (names []string) {
			page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{Search: search})
			require.NoError(t, err)
			for _, c := range page.Items {
				names = append(names, c.Name)
			}
			return names
		}
		for _, search := range []string{"", "work", "ANA ✨", "ana.l", "11"} {
			require.Equal(t, []string{"Ana from work"}, list(search), search)
		}
		require.Equal(t, `"ana ✨"`, member(t, f.sink.all(t)[0].Payload, "pushName"), "payloads have the contact's own")
		f.receive(t, ref, contact(provider.ContactForgotten, "111", 3, named("Ana from work")), contact(provider.ContactSaved, "111", 2, named("late")))
		require.Equal(t, []string{"ana ✨"}, list(""))
		require.Len(t, f.news(t, "chat"), 1)
	})
}

// TestContactsOptOut: the latest word counts, of whomever.
func TestContactsOptOut(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hi"))
		f.receive(t, ref, contact(provider.ContactOptedOut, "111", 2), contact(provider.ContactOptedIn, "111", 1))
		require.True(t, f.chat(t, ref, "111").OptedOut)
		news := f.news(t, "chat")
		require.Len(t, news, 1)
		require.Equal(t, "true", member(t, news[0], "optedOut"))
		require.Contains(t, member(t, news[0], "lastMessage"), `"m1"`)
		f.receive(t, ref, contact(provider.ContactOptedIn, "111", 3))
		require.False(t, f.chat(t, ref, "111").OptedOut)
		f.clock.Advance(time.Hour)
		_, err := f.acc.UpdateChat(t.Context(), ref, "111", messaging.ChatChange{OptedOut: ptr(true)})
		require.NoError(t, err)
		f.receive(t, ref, contact(provider.ContactOptedIn, "111", 4))
		require.True(t, f.chat(t, ref, "111").OptedOut, "a user said so later")
		require.Len(t, f.sink.all(t), 1, "nobody wrote anything")
		f.receive(t, ref, contact(provider.ContactIdentity, "111", 5))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_raw WHERE body <> ''`), "what changes nothing is kept whole")
	})
}

// TestGroupsHaveSubjects names a group by its latest subject.
func TestGroupsHaveSubjects(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		group := provider.Address{ChatID: "120363@g.us", Group: true}
		renamed := func(minute int, subject string) *provider.GroupChange {
			at := epoch.Add(time.Duration(minute) * time.Minute)
			return &provider.GroupChange{Raw: rawID(fmt.Sprint(minute)), Chat: group, At: at, Subject: subject}
		}
		f.receive(t, ref, renamed(2, "Board"), renamed(1, "Late"), renamed(3, ""))
		f.receive(t, ref, text("m1", "", "hi", func(m *provider.Message) {
			m.Chat, m.From = group, provider.Contact{Address: phone("111"), Name: "Ana"}
		}))
		require.Equal(t, "Board", f.chat(t, ref, group.ChatID).Name)
		payload := f.sink.all(t)[0].Payload
		require.Equal(t, `"Board"`, member(t, payload, "pushName"))
		require.Equal(t, `"120363::group"`, member(t, payload, "remoteJid"))
		require.JSONEq(t, `{"remoteJid":"111::single","chatId":"111","pushName":"Ana"}`, member(t, payload, "participant"))
	})
}
