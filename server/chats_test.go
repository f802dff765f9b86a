package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// message is a record of a sandbox reference; more are members of its own.
func message(ref int, mine bool, status, text, more string) string {
	direction, actor := "in", "contact"
	if mine {
		direction, actor, more = "out", "api", more+`,"requestId":"<≈sandbox->"`
	}
	return fmt.Sprintf(`{"reference":%d,"ref":%d,"remoteJid":"ana::single","chatId":"ana@sandbox","mine":%t,"id":"<≈sandbox->","pushName":"Ana","verifiedBizName":"",
		"messageTimestamp":"<now>","type":"text","status":%q,"text":%q,"direction":%q,"actor":%q,"error":null%s}`,
		ref, ref, mine, status, text, direction, actor, more)
}

func chat(ref, unread int, last, more string) string {
	if more == "" {
		more = `"name":"Ana","botActive":1,"handoff":null,"variables":{},"tags":[],"fields":{},"language":null,"optedOut":false`
	}
	return fmt.Sprintf(`{"id":"ana@sandbox","reference":%d,"kind":"individual","phone":null,"unread":%d,"activeBot":null,
		"lastMessage":%s,"windowExpiresAt":null,"createdAt":"<now>","updatedAt":"<now>",%s}`, ref, unread, last, more)
}

// TestChats walks through a conversation.
func TestChats(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		list := fmt.Sprintf("/chats/list?reference=%d", ref)
		messages := fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref)
		require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", list, "").Body.String())
		ana.call(t, "GET", messages, "").problem(404, "not_found")

		a := ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"Ana@sandbox","name":"Ana","type":"text","text":"Hello"}`)
		in := a.is(201, `{"success":true,"id":"<≈sandbox->"}`)["id"].(string)
		hello := message(ref, false, "DELIVERED", "Hello", "")
		ana.call(t, "GET", list, "").is(200, `{"items":[`+chat(ref, 1, hello, "")+`],"next":null}`)
		ana.call(t, "GET", messages, "").is(200, `{"items":[`+hello+`],"next":null}`)

		sent := ana.call(t, "POST", "/chats/send", fmt.Sprintf(
			`{"reference":%d,"chatId":"ana","message":{"type":"text","text":"Hi Ana"},"context":{"messageId":%q}}`, ref, in))
		hi := message(ref, true, "DELIVERED", "Hi Ana", fmt.Sprintf(`,"context":{"messageId":%q}`, in))
		sent.is(200, `{"success":true,"message":`+hi+`}`)
		ana.call(t, "GET", messages, "").is(200, `{"items":[`+hi+`,`+hello+`],"next":null}`)

		ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana@sandbox"}`, ref)).is(200, `{"success":true,"unread":0}`)
		ana.call(t, "GET", list, "").is(200, `{"items":[`+chat(ref, 0, hi, "")+`],"next":null}`)
		ana.call(t, "GET", messages, "").is(200, `{"items":[`+hi+`,`+message(ref, false, "READ", "Hello", "")+`],"next":null}`)
		ana.write(t, ref, "ana", "Still there?")
		hi = message(ref, true, "READ", "Hi Ana", fmt.Sprintf(`,"context":{"messageId":%q}`, in))
		ana.call(t, "GET", messages+"&limit=2", "").is(200, `{"items":[`+message(ref, false, "DELIVERED", "Still there?", "")+`,`+hi+`],"next":"<text>"}`)
	})
}

// TestHistoryPages pages through messages in both directions.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		for i := range 7 {
			ana.write(t, ref, "ana", fmt.Sprint(i))
		}
		page := func(query string) (texts string, next string) {
			out := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&limit=3%s", ref, query), "").json(200)
			for _, m := range out["items"].([]any) {
				texts += m.(map[string]any)["text"].(string)
			}
			next, _ = out["next"].(string)
			return texts, next
		}
		texts, next := page("")
		require.Equal(t, "654", texts)
		texts, next = page("&before=" + next)
		require.Equal(t, "321", texts)
		texts, last := page("&before=" + next)
		require.Equal(t, "0", texts)
		require.Empty(t, last)
		texts, _ = page("&after=" + next)
		require.Equal(t, "432", texts)
		ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&before=%s&after=%s", ref, next, next), "").problem(422, "validation")
	})
}

func TestChatList(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		for _, name := range []string{"carl", "dora", "100%", "emil"} {
			if name == "100%" {
				ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"dora","name":"100%% Dora_ \\ Ü"}`, ref)).json(200)
				continue
			}
			ana.write(t, ref, name, "Hello from "+name)
		}
		ids := func(query string) []string {
			out := []string{}
			for _, c := range ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d%s", ref, query), "").json(200)["items"].([]any) {
				out = append(out, c.(map[string]any)["id"].(string))
			}
			return out
		}
		require.Equal(t, []string{"emil@sandbox", "dora@sandbox", "carl@sandbox"}, ids(""))
		for search, want := range map[string][]string{
			"CARL": {"carl@sandbox"}, "100%25": {"dora@sandbox"}, "%25": {"dora@sandbox"}, "_": {"dora@sandbox"}, "%5C": {"dora@sandbox"},
			"sandbox": {"emil@sandbox", "dora@sandbox", "carl@sandbox"}, "nobody": {}, "%27": {},
		} {
			require.Equal(t, want, ids("&search="+search), search)
		}
		first := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d&limit=2", ref), "").json(200)
		require.Equal(t, []string{"carl@sandbox"}, ids("&cursor="+first["next"].(string)))
	})
}

// TestUpdateChat changes what users keep with a chat.
func TestUpdateChat(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		patch := func(members string) answer {
			return ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ana"%s}`, ref, members))
		}
		patch("").is(200, chat(ref, 0, "null",
			`"name":"","botActive":1,"handoff":null,"variables":{},"tags":[],"fields":{},"language":null,"optedOut":false`))
		patch(`,"botActive":0,"name":"Ana","variables":{"n":1.50,"big":12345678901234567890,"list":[1,{"a":null}],"gone":"x"},
			"tags":["vip"," vip ","new"],"fields":{"crm":"7"},"language":"pt-BR","optedOut":true,"handoff":"take"`).is(200, chat(ref, 0, "null",
			`"name":"Ana","botActive":0,"handoff":{"since":"<now>","taken":true,"until":null,"target":"","note":""},"variables":{"n":1.50,"big":12345678901234567890,"list":[1,{"a":null}],"gone":"x"},
			"tags":["vip","new"],"fields":{"crm":"7"},"language":"pt-BR","optedOut":true`))
		a := patch(`,"botActive":true,"variables":{"gone":null,"more":false},"tags":[],"optedOut":false,"handoff":"close"`)
		a.is(200, chat(ref, 0, "null",
			`"name":"Ana","botActive":1,"handoff":null,"variables":{"n":1.50,"big":12345678901234567890,"list":[1,{"a":null}],"more":false},
			"tags":[],"fields":{"crm":"7"},"language":"pt-BR","optedOut":false`))
		var numbers struct {
			Variables struct{ N, Big json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(a.Body.Bytes(), &numbers))
		require.Equal(t, "12345678901234567890", string(numbers.Variables.Big), "numbers keep their digits")
		patch(`,"botActive":false`).json(200)
		require.EqualValues(t, 0, patch("").json(200)["botActive"])

		for name, c := range map[string]struct{ members, location string }{
			"botActive":       {`,"botActive":2`, "body.botActive"},
			"botActive text":  {`,"botActive":"yes"`, "body.botActive"},
			"handoff":         {`,"handoff":"give"`, "body.handoff"},
			"a tag":           {`,"tags":["ok",""]`, "body.tags[1]"},
			"no tag":          {`,"tags":[7]`, "body.tags[0]"},
			"variables":       {`,"variables":[]`, "body.variables"},
			"large variables": {`,"variables":{"a":"` + string(make70k()) + `"}`, "body.variables"},
			"language":        {`,"language":7`, "body.language"},
			"chat id":         {`,"chatId":"no name"`, "body.chatId"},
		} {
			t.Run(name, func(t *testing.T) {
				p := patch(c.members).problem(422, "validation")
				require.Len(t, p.Errors, 1)
				require.Equal(t, c.location, p.Errors[0].Location)
			})
		}
	})
}

func make70k() []byte {
	b := make([]byte, 70<<10)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

// TestMarkRead reads up to one message.
func TestMarkRead(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		read := func(more string) answer {
			return ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana"%s}`, ref, more))
		}
		read("").problem(404, "not_found")
		first := ana.write(t, ref, "ana", "one")
		ana.write(t, ref, "ana", "two")
		read(`,"messageId":"nothing"`).problem(404, "not_found")
		read(`,"messageId":"`+first+`"`).is(200, `{"success":true,"unread":1}`)
		read("").is(200, `{"success":true,"unread":0}`)
		read("").is(200, `{"success":true,"unread":0}`)
	})
}

// TestSearchMessages searches in the chats that a caller may read.
func TestSearchMessages(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		one, two := ana.sandbox(t), ana.sandbox(t)
		ana.write(t, one, "ana", "Hello from Málaga")
		const search = "/chats/messages/search?q=malaga"
		ana.call(t, "GET", search, "").is(200, `{"items":[{"message":`+strings.ReplaceAll(message(one, false, "DELIVERED", "Hello from Málaga", ""), "Ana", "ana")+
			`,"chatName":"ana","excerpt":[{"text":"Hello from ","match":false},{"text":"Málaga","match":true}]}],"next":null}`)
		ana.write(t, two, "ana", "Bye from Málaga")
		_, cleo := ana.member(t, "cleo", fmt.Sprintf("chats.read@%d", two))
		found := func(c client, more string) (texts []string) {
			for _, item := range c.call(t, "GET", search+more, "").json(200)["items"].([]any) {
				texts = append(texts, item.(map[string]any)["message"].(map[string]any)["text"].(string))
			}
			return texts
		}
		require.ElementsMatch(t, []string{"Bye from Málaga", "Hello from Málaga"}, found(ana, ""))
		require.Equal(t, []string{"Bye from Málaga"}, found(cleo, ""), "the reference that cleo may read")
		require.Equal(t, []string{"Bye from Málaga"}, found(cleo, fmt.Sprintf("&reference=%d&chatId=ana", two)))
		require.Empty(t, found(ben, ""), "another account")
		for _, c := range []client{cleo, ben} {
			c.call(t, "GET", search+fmt.Sprintf("&reference=%d", one), "").problem(404, "not_found")
		}
		ana.call(t, "GET", search+"&chatId=ana", "").problem(422, "validation")
		ana.call(t, "GET", search+fmt.Sprintf("&reference=%d&chatId=nobody", one), "").problem(404, "not_found")
		ana.call(t, "GET", search+"&cursor=x", "").problem(422, "validation")
	})
}
