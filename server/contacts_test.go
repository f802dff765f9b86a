package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// TestResolve finds a contact of a WhatsApp number by all of its names.
func TestResolve(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, UserID: "US.7", Name: "Ben", Username: "ben.silva", Text: "Hello"})
		require.NoError(t, err)
		get := func(id string) answer {
			return ana.call(t, "GET", fmt.Sprintf("/chats/resolve?reference=%d&id=%s", ref, id), "")
		}
		for _, id := range []string{contact, "%2B" + contact, "US.7", "ben.silva", "@ben.silva"} {
			get(id).is(200, fmt.Sprintf(`{"chatId":%q,"phone":%q,"lid":null,"userId":"US.7","username":"ben.silva"}`, contact, contact))
		}
		get("16505550000").problem(404, "not_found")
		require.Equal(t, "query.id", get("nonsense").problem(422, "validation").Errors[0].Location)
		ana.call(t, "GET", fmt.Sprintf("/chats/check?reference=%d&phone=%s", ref, contact), "").problem(422, "unsupported")
	})
}

// TestCheckNumber asks a sandbox, where everybody is.
func TestCheckNumber(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		check := func(phone string) answer {
			return ana.call(t, "GET", fmt.Sprintf("/chats/check?reference=%d&phone=%s", ref, phone), "")
		}
		check("%2B1+650-555+1234").is(200, `{"phone":"16505551234","exists":true,"chatId":"16505551234@sandbox"}`)
		check("Maria").is(200, `{"phone":"maria","exists":true,"chatId":"maria@sandbox"}`)
		require.Equal(t, "query.phone", check("a+b").problem(422, "validation").Errors[0].Location)
		for i := range 18 {
			check(fmt.Sprint(4930100 + i)).json(200)
		}
		check("maria").json(200)
		limited := check("493")
		limited.problem(429, "rate_limited")
		require.Positive(t, atoi(t, limited.Header().Get("Retry-After")))
	})
}

// leased is a conversation with a contact whose words are all the same canary, and
// one with somebody else.
func leased(t *testing.T, ana client, parrot string) int {
	t.Helper()
	ref := ana.sandbox(t)
	for _, url := range []string{parrot, "trunkline://echo"} {
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q}`, ref, url)).json(201)
	}
	write := fmt.Sprintf("/sandbox/%d/messages", ref)
	send := func(chat, text string) {
		ana.call(t, "POST", "/chats/send", sendBody(ref, chat, `{"type":"text","text":"`+text+`"}`), "Idempotency-Key", chat).json(200)
	}
	ana.call(t, "POST", write, `{"from":"canary","name":"Canary Lima","type":"text","text":"my canary secret"}`).json(201)
	send("canary", "canary answer")
	ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"canary","name":"Canary","variables":{"canary":1}}`, ref)).json(200)
	group := ana.call(t, "POST", "/chats/group", fmt.Sprintf(`{"reference":%d,"subject":"Family","participants":["canary","ben"]}`, ref)).json(201)["chatId"]
	ana.call(t, "POST", write, fmt.Sprintf(`{"from":"canary","group":%q,"type":"text","text":"canary in the group"}`, group)).json(201)
	ana.call(t, "POST", write, fmt.Sprintf(`{"from":"ben","group":%q,"type":"text","text":"ben in the group"}`, group)).json(201)
	ana.call(t, "GET", fmt.Sprintf("/chats/check?reference=%d&phone=canary", ref), "").json(200)
	for _, chatID := range []string{"canary", "Canary@sandbox"} {
		ana.execute(t, "get_chat_history", fmt.Sprintf(`{"reference":%d,"chatId":%q}`, ref, chatID)).json(200)
	}
	ana.write(t, ref, "ben", "hello from ben")
	send("ben", "answer to ben")
	return ref
}

// TestExportAndErase shows everything on a contact, then erases it: neither the
// database nor any answer knows of it any more.
func TestExportAndErase(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := working(t, setupOn(t, db, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }))
		parrot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = r.Write(w) })) // says it all again
		t.Cleanup(parrot.Close)
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref := leased(t, ana, parrot.URL)
		deliveries := fmt.Sprintf("/references/deliveries?reference=%d&limit=200", ref)
		listed := func(query string) []any { return ana.call(t, "GET", deliveries+query, "").json(200)["items"].([]any) }
		const all = 2 * 9 // endpoints and events: six messages, two of ours delivered, one of ours read
		ana.until(t, func() bool { return len(listed("&state=delivered")) == all })

		export := fmt.Sprintf("/chats/export?reference=%d&chatId=canary", ref)
		ben.call(t, "GET", export, "").problem(404, "not_found")
		ana.call(t, "GET", fmt.Sprintf("/chats/export?reference=%d&chatId=nobody", ref), "").problem(404, "not_found")
		a := ana.call(t, "GET", export, "")
		require.Contains(t, a.Header().Get("Content-Disposition"), "attachment")
		e := a.json(200)
		require.Equal(t, []any{"canary@sandbox"}, e["ids"])
		require.Equal(t, "Canary", e["chat"].(map[string]any)["name"])
		var texts []string
		for _, m := range e["messages"].([]any) {
			texts = append(texts, m.(map[string]any)["message"].(map[string]any)["text"].(string))
		}
		require.Equal(t, []string{"my canary secret", "canary answer", "canary in the group"}, texts)
		require.Equal(t, []any{map[string]any{"phone": "canary", "exists": true, "chatId": "canary@sandbox"}}, e["numbers"])
		for _, d := range e["deliveries"].([]any) {
			require.Contains(t, fmt.Sprint(d.(map[string]any)["body"]), "canary", "each was about it")
		}
		require.Len(t, e["deliveries"], 2*5, "three messages and two statuses, to two endpoints")
		require.Empty(t, ana.call(t, "HEAD", export, "").Body.String())

		erase := fmt.Sprintf("/chats?reference=%d&chatId=canary", ref)
		ben.call(t, "DELETE", erase, "").problem(404, "not_found")
		require.NotEmpty(t, testkit.Holding(t, db, "canary"))
		ana.erase(t, erase)
		require.Empty(t, testkit.Holding(t, db, "canary"))
		require.NotEmpty(t, testkit.Holding(t, db, "hello from ben"))
		require.NotEmpty(t, testkit.Holding(t, db, "ben in the group"))
		require.Len(t, listed("&state=delivered"), all, "that something was delivered is known")
		for _, path := range []string{
			deliveries, fmt.Sprintf("/chats/list?reference=%d", ref), fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf("/sandbox/%d/echo", ref),
		} {
			require.NotContains(t, ana.call(t, "GET", path, "").Body.String(), "canary", path)
		}
		for _, gone := range []answer{ana.call(t, "DELETE", erase, ""), ana.call(t, "GET", export, "")} {
			gone.problem(404, "not_found")
		}
		ana.write(t, ref, "canary", "back again")
		again := ana.call(t, "GET", export, "").json(200)
		require.Len(t, again["messages"], 1, "what comes later begins a new chat")
	})
}
