package messaging_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

var (
	days = provider.Poll{Question: "Which day?", Options: []string{"Monday", "Tuesday", "2"}}
	yes  = provider.Buttons{Text: "Sure?", Buttons: []provider.Choice{{ID: "y", Title: "Yes"}, {ID: "n", Title: "No"}}}
	menu = provider.List{Text: "What?", Button: "Choose", Sections: []provider.Section{
		{Title: "Hot", Rows: []provider.Choice{{ID: "tea", Title: "Tea", Description: "Black"}}},
		{Title: "Cold", Rows: []provider.Choice{{ID: "milk", Title: "Milk"}}},
	}}
)

// TestNumberedAnswers asks on a reference that has neither buttons nor lists nor
// polls.
func TestNumberedAnswers(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		n := 0
		// answer writes as the contact, and returns the reply that is understood.
		answer := func(words string) *provider.Reply {
			n++
			id := fmt.Sprint("answer.", n)
			f.receive(t, ref, text(id, "111", words))
			f.receive(t, ref, text(id, "111", words)) // a repeat changes nothing
			m := f.message(t, ref, "111", id)
			require.Equal(t, words, m.Text, "the words stay")
			require.Equal(t, "text", m.Type)
			var published struct{ Reply *provider.Reply }
			for _, e := range f.sink.all(t) {
				if e.MessageID == id {
					require.NoError(t, json.Unmarshal(e.Payload, &published))
				}
			}
			require.Equal(t, m.Reply, published.Reply)
			return m.Reply
		}
		for _, c := range []struct {
			ask   provider.Content
			said  string
			words string
			want  provider.Reply
		}{
			{yes, "Sure?\n1. Yes\n2. No", "2", provider.Reply{ID: "n", Title: "No"}},
			{yes, "Sure?\n1. Yes\n2. No", " yes ", provider.Reply{ID: "y", Title: "Yes"}},
			{menu, "What?\n1. Tea – Black\n2. Milk", "2.", provider.Reply{ID: "milk", Title: "Milk"}},
			{menu, "What?\n1. Tea – Black\n2. Milk", "1)", provider.Reply{ID: "tea", Title: "Tea"}},
			{days, "Which day?\n1. Monday\n2. Tuesday\n3. 2", "3", provider.Reply{ID: "2", Title: "2"}},
			{days, "Which day?\n1. Monday\n2. Tuesday\n3. 2", "2", provider.Reply{ID: "2", Title: "2"}},
		} {
			req := say(ref, "")
			req.Content = c.ask
			m := f.send(t, req)
			require.Equal(t, "text", m.SentAs)
			require.Equal(t, c.said, m.Text)
			require.Equal(t, provider.Text{Text: c.said}, f.net.attempts()[len(f.net.attempts())-1].Content)
			for _, words := range []string{"What do you mean?", "0", "4", "-1"} {
				require.Nil(t, answer(words), words)
			}
			f.send(t, say(ref, fmt.Sprint("Please choose ", n)))
			require.Equal(t, &c.want, answer(c.words))
			require.Nil(t, answer("1"), "it was answered")
		}

		// A question that did not go out is none.
		f.net.fail(&provider.Rejected{Code: "1", Message: "No"})
		req := say(ref, "")
		req.Content = provider.Buttons{Text: "Refused?", Buttons: yes.Buttons}
		_, err := f.acc.Send(t.Context(), req)
		require.Error(t, err)
		require.Nil(t, answer("1"))
	})
}

// TestAliasedTargets reacts to a message whose id was ours when it was asked
// for.
func TestAliasedTargets(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		req := say(ref, "first")
		req.Wait = 0
		first := f.send(t, req)
		req = say(ref, "second")
		req.Wait, req.ReplyTo = 0, first.ID
		f.send(t, req)
		f.run(t)
		f.until(t, "both are sent", func() bool { return len(f.net.attempts()) == 2 })
		require.Equal(t, "net.1", f.net.attempts()[1].ReplyTo, "by the id that the network has chosen meanwhile")
	})
}

// TestRepeatOfSlowRequest repeats a request while the first is under way.
func TestRepeatOfSlowRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := testkit.Open(t, testkit.SQLiteURL(t))
		f := setup(t, db, config{idle: true}) // nothing is attempted
		ref := f.openChat(t, testKind)
		req := say(ref, "slow")
		req.Wait, req.IdempotencyKey = 25*time.Second, "key"
		first := make(chan error, 1)
		go func() {
			_, err := f.acc.Send(t.Context(), req)
			first <- err
		}()
		f.until(t, "the first is stored", func() bool {
			return count(t, db, `SELECT count(*) FROM messaging_idempotency`) == 1
		})
		start := time.Now()
		_, err := f.acc.Send(t.Context(), req)
		require.Equal(t, 10*time.Second, time.Since(start), "it waits for the first")
		refused := requireCode(t, err, messaging.CodeConflict)
		require.Equal(t, 15*time.Second, refused.After)

		f.clock.Advance(25 * time.Second) // the first has been answered
		again, err := f.acc.Send(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, "PENDING", again.Message.Status)
		f.run(t)
		require.NoError(t, <-first)
		f.until(t, "it is sent", func() bool { return f.messages(t, ref, "111")[0].Status == "SENDING" })
		require.Len(t, f.net.attempts(), 1)
	})
}

// TestLimitsOfContent names what is wrong with contents of the newer types.
func TestLimitsOfContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, field string }{
		{`{"type":"poll","question":"a","options":["x"]}`, "message.options"},
		{`{"type":"poll","question":"a","options":["x","x"]}`, "message.options[1]"},
		{`{"type":"poll","question":"a","options":["x"," "]}`, "message.options[1]"},
		{`{"type":"poll","options":["x","y"]}`, "message.question"},
		{`{"type":"vote","options":["x"]}`, "message.messageId"},
		{`{"type":"vote","messageId":"m"}`, "message.options"},
		{`{"type":"vote","messageId":"m","options":["x","x"]}`, "message.options[1]"},
		{`{"type":"vote","messageId":"m","options":["1","2","3","4","5","6","7","8","9","10","11","12","13"]}`, "message.options"},
		{`{"type":"contacts","contacts":[]}`, "message.contacts"},
		{`{"type":"contacts","contacts":[{"name":{"firstName":"A"}}]}`, "message.contacts[0].name.formattedName"},
		{`{"type":"edit","messageId":"x"}`, "message.text"},
		{`{"type":"edit","text":"x"}`, "message.messageId"},
		{`{"type":"revoke"}`, "message.messageId"},
		{`{"type":"interactive"}`, "message.interactive"},
		{`{"type":"interactive","interactive":[]}`, "message.interactive"},
		{`{"type":"text","text":"a","mentions":[""]}`, "message.mentions[0]"},
		{`{"type":"text","text":"a","tag":1}`, "message.tag"},
		{`{"type":"text","text":"a","tag":"` + strings.Repeat("x", 65) + `"}`, "message.tag"},
	} {
		_, err := messaging.DecodeContent([]byte(c.message))
		var bad *messaging.Invalid
		require.ErrorAs(t, err, &bad, c.message)
		require.Equal(t, c.field, bad.Field, c.message)
	}
	tag, err := messaging.DecodeTag([]byte(`{"type":"text","text":"a","tag":"HUMAN_AGENT"}`))
	require.NoError(t, err)
	require.Equal(t, "HUMAN_AGENT", tag)
}
