package messaging_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// hashed is a vote as a network reports it that hashes the options.
func hashed(poll string, options ...string) provider.Vote {
	v := provider.Vote{MessageID: poll}
	for _, o := range options {
		sum := sha256.Sum256([]byte(o))
		v.Hashes = append(v.Hashes, sum[:])
	}
	return v
}

func vote(id, chat string, v provider.Vote, change ...func(*provider.Message)) *provider.Message {
	return text(id, chat, "", append(change, func(m *provider.Message) { m.Content = v })...)
}

// ask sends a poll to contact 111, and returns its id.
func (f *fixture) ask(t testing.TB, ref provider.ReferenceID) string {
	t.Helper()
	req := say(ref, "")
	req.Content = days
	return f.send(t, req).ID
}

func result(option string, voters ...string) messaging.PollResult {
	return messaging.PollResult{Option: option, Votes: int64(len(voters)), Voters: append([]string{}, voters...)}
}

// TestVotes counts what a contact selects, and shows each vote as a message.
func TestVotes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var seen calls
		f := setup(t, db, handled(func(_ context.Context, m messaging.Message, _ *messaging.Replier) error {
			seen.add(m.Text)
			return nil
		}))
		ref := f.openChat(t, testKind)
		req := say(ref, "")
		req.Content = provider.Poll{Question: days.Question, Options: days.Options, Multiple: true}
		poll := f.send(t, req).ID
		results := func() []messaging.PollResult { return f.message(t, ref, "111", poll).Poll.Results }
		require.Nil(t, results())

		monday := vote("v1", "111", hashed(poll, "Monday"))
		f.receive(t, ref, monday, monday)
		f.receive(t, ref, monday)
		m := f.message(t, ref, "111", "v1")
		require.Equal(t, "Monday", m.Text)
		require.Equal(t, &messaging.Poll{Question: days.Question, Options: days.Options, Multiple: true, MessageID: poll, Selected: []string{"Monday"}}, m.Poll)
		require.Equal(t, &provider.Reply{ID: "Monday", Title: "Monday"}, m.Reply)
		require.Equal(t, []messaging.PollResult{result("Monday", "111::single"), result("Tuesday"), result("2")}, results())
		var published messaging.MessagePayload
		for _, e := range f.sink.all(t) {
			if e.MessageID == "v1" {
				require.NoError(t, json.Unmarshal(e.Payload, &published))
			}
		}
		require.Equal(t, m.Poll, published.Poll)

		f.receive(t, ref, vote("v2", "111", hashed(poll, "2", "Tuesday")))
		m = f.message(t, ref, "111", "v2")
		require.Equal(t, "Tuesday, 2", m.Text)
		require.Nil(t, m.Reply)
		require.Equal(t, []messaging.PollResult{result("Monday"), result("Tuesday", "111::single"), result("2", "111::single")}, results())
		mine := func(m *provider.Message) {
			m.Mine, m.From = true, provider.Contact{Address: provider.Address{ChatID: "5", Phone: "5"}}
		}
		f.receive(t, ref, vote("v3", "111", hashed(poll, "2"), mine))
		require.Equal(t, result("2", "111::single", "5::single"), results()[2])
		f.receive(t, ref, vote("v4", "111", provider.Vote{MessageID: poll, Options: []string{"Monday"}}), vote("v5", "111", hashed(poll)))
		require.Equal(t, "Vote removed", f.message(t, ref, "111", "v5").Text)
		require.Equal(t, []messaging.PollResult{result("Monday"), result("Tuesday"), result("2", "5::single")}, results())
		f.handledAll(t)
		require.Equal(t, []string{"hello", "Monday", "Tuesday, 2", "Monday"}, seen.all(), "a withdrawn vote is not handled")
	})
}

// TestVotes_InGroup counts several voters of a poll that comes with a vote in it.
func TestVotes_InGroup(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		group := provider.Address{ChatID: "777@g.us", Group: true}
		by := func(from provider.Address, id string, c provider.Content) *provider.Message {
			return &provider.Message{ID: id, Chat: group, At: epoch, From: provider.Contact{Address: from}, Content: c}
		}
		ana, ben := provider.Address{ChatID: "1@lid", LID: "1"}, provider.Address{ChatID: "222", Phone: "222"}
		f.receive(t, ref, by(ana, "poll", provider.Poll{Options: days.Options, Multiple: true}), by(ana, "v1", hashed("poll", "Monday")), by(ben, "v2", hashed("poll", "Monday")))
		ana.Phone = "111"
		f.receive(t, ref, by(ana, "v3", hashed("poll", "Monday", "2")))
		results := func() []messaging.PollResult { return f.message(t, ref, group.ChatID, "poll").Poll.Results }
		require.Equal(t, []messaging.PollResult{result("Monday", "222::single", "111::single"), result("Tuesday"), result("2", "111::single")}, results())

		f.receive(t, ref, text("m1", "222", "so that there is a chat"))
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "222"))
		require.Equal(t, []messaging.PollResult{result("Monday", "111::single"), result("Tuesday"), result("2", "111::single")}, results())
	})
}

// TestVotes_Unreadable shows votes that fit no poll of their chat as messages
// that cannot be shown, and counts one that can be read later.
func TestVotes_Unreadable(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		poll := f.ask(t, ref)
		large := make([]string, 101)
		for i := range large {
			large[i] = strconv.Itoa(i)
		}
		f.receive(t, ref, text("large", "111", "", func(m *provider.Message) { m.Content = provider.Poll{Options: large, Multiple: true} }))
		long := provider.Poll{Options: []string{"yes", strings.Repeat("o", 64<<10)}}
		f.receive(t, ref, text("long", "111", "", func(m *provider.Message) { m.Content = long }))
		for id, m := range map[string]*provider.Message{
			"unknown poll":   vote("unknown poll", "111", hashed("other", "Monday")),
			"unknown option": vote("unknown option", "111", hashed(poll, "Monday", "Sunday")),
			"unknown name":   vote("unknown name", "111", provider.Vote{MessageID: poll, Options: []string{"Sunday"}}),
			"other chat":     vote("other chat", "222", hashed(poll, "Monday")),
			"two options":    vote("two options", "111", hashed(poll, "Monday", "Tuesday")),
			"too large":      vote("too large", "111", hashed("large", "7")),
			"too long":       vote("too long", "111", hashed("long", "yes")),
			"too many":       vote("too many", "111", hashed(poll, large...)),
			"no poll":        vote("no poll", "111", hashed("unknown poll", "Monday")),
		} {
			f.receive(t, ref, m)
			got := f.message(t, ref, m.Chat.ChatID, id)
			require.Equal(t, &provider.Unknown{Kind: "poll_vote"}, got.Unsupported, id)
			require.Equal(t, []string{"message:DELIVERED"}, f.sink.of(t, id), id)
		}
		require.Nil(t, f.message(t, ref, "111", poll).Poll.Results)

		f.receive(t, ref, text("late", "111", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: provider.Undecryptable} }))
		f.receive(t, ref, vote("late", "111", hashed(poll, "Tuesday")))
		require.Equal(t, "Tuesday", f.message(t, ref, "111", "late").Text)
		require.Equal(t, result("Tuesday", "111::single"), f.message(t, ref, "111", poll).Poll.Results[1])
		require.Equal(t, []string{"message:DELIVERED", "message:DELIVERED"}, f.sink.of(t, "late"))

		f.receive(t, ref, text("theirs", "111", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: provider.Undecryptable} }))
		f.receive(t, ref, text("theirs", "111", "", func(m *provider.Message) { m.Content = days }), vote("early", "111", hashed("theirs", "Monday")))
		require.Equal(t, "Monday", f.message(t, ref, "111", "early").Text)
		require.Equal(t, []messaging.PollResult{result("Monday", "111::single"), result("Tuesday"), result("2")}, f.message(t, ref, "111", "theirs").Poll.Results)
	})
}

// TestVotes_OfAccount votes in a contact's poll. A vote that the network refuses
// is not counted.
func TestVotes_OfAccount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, ownIDsKind, "222")
		_, err := db.ExecContext(t.Context(), `UPDATE messaging_reference SET remote_id = '5' WHERE id = $1`, ref)
		require.NoError(t, err)
		poll := func(m *provider.Message) { m.Content = days }
		f.receive(t, ref, text("poll", "111", "", poll), text("theirs", "222", "", poll))
		cast := func(id string, options ...string) (messaging.Message, error) {
			req := say(ref, "")
			req.Content = provider.Vote{MessageID: id, Options: append([]string{}, options...)}
			sent, err := f.acc.Send(t.Context(), req)
			return sent.Message, err
		}
		for field, v := range map[string]provider.Vote{
			"message.messageId":  {MessageID: "open.111", Options: []string{"Monday"}},
			"message.options[1]": {MessageID: "poll", Options: []string{"Monday", "Sunday"}},
			"message.options":    {MessageID: "poll", Options: []string{"Monday", "Tuesday"}},
		} {
			_, err := cast(v.MessageID, v.Options...)
			var bad *messaging.Invalid
			require.ErrorAs(t, err, &bad, field)
			require.Equal(t, field, bad.Field)
		}
		for _, id := range []string{"nothing", "theirs"} {
			_, err := cast(id, "Monday")
			var bad *messaging.Invalid
			require.ErrorAs(t, err, &bad, id)
			require.Equal(t, "message.messageId", bad.Field)
		}
		results := func() []messaging.PollResult { return f.message(t, ref, "111", "poll").Poll.Results }
		f.net.fail(&provider.Rejected{Code: "forgotten", Message: "No"})
		_, err = cast("poll", "Monday")
		require.Error(t, err)
		require.Nil(t, results())

		f.net.fail()
		m, err := cast("poll", "Tuesday")
		require.NoError(t, err)
		require.Equal(t, "Tuesday", m.Text)
		require.Empty(t, m.SentAs)
		require.Nil(t, m.Reply)
		require.Equal(t, &messaging.Poll{Question: days.Question, Options: days.Options, MessageID: "poll", Selected: []string{"Tuesday"}}, m.Poll)
		require.Equal(t, []messaging.PollResult{result("Monday"), result("Tuesday", "5::single"), result("2")}, results())
		_, err = cast("poll")
		require.NoError(t, err)
		require.Equal(t, []messaging.PollResult{result("Monday"), result("Tuesday"), result("2")}, results())
	})
}
