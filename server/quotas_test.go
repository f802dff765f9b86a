package server_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/quota"
)

// withQuotas runs fn on both databases with a sandbox reference and some quotas.
func withQuotas(t *testing.T, limits quota.Limits, fn func(t *testing.T, ana client, ref int)) {
	t.Helper()
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.Quotas = limits }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		fn(t, ana, ana.sandbox(t))
	})
}

func (c client) quota(t *testing.T, name string) map[string]any {
	t.Helper()
	return c.call(t, "GET", "/account", "").json(200)["quotas"].(map[string]any)[name].(map[string]any)
}

// TestQuotaOfMessages refuses one message too many by each door, counts no
// repeat and refuses nothing that a contact sends.
func TestQuotaOfMessages(t *testing.T) {
	withQuotas(t, quota.Limits{quota.Messages: 3}, func(t *testing.T, ana client, ref int) {
		text := func(n int) string { return sendBody(ref, "bob", fmt.Sprintf(`{"type":"text","text":"no %d"}`, n)) }
		first := ana.call(t, "POST", "/chats/send", text(1), "Idempotency-Key", "one").json(200)["message"].(map[string]any)["id"]
		ana.call(t, "POST", "/chats/send", text(2)).json(200)
		ana.call(t, "POST", "/chats/send", text(3)).json(200)
		over := ana.call(t, "POST", "/chats/send", text(4))
		over.problem(429, "quota.messages")
		require.NotEmpty(t, over.Header().Get("Retry-After"))
		again := ana.call(t, "POST", "/chats/send", text(1), "Idempotency-Key", "one").json(200)
		require.Equal(t, first, again["message"].(map[string]any)["id"], "a repeat is answered also when nothing is left")
		state := ana.quota(t, "messages")
		require.EqualValues(t, 3, state["limit"])
		require.EqualValues(t, 3, state["used"])
		require.NotNil(t, state["resetsAt"])

		for _, who := range []string{"bob", "eve", "joe"} {
			ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":%q,"type":"text","text":"hi"}`, who)).json(201)
		}
		items := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=joe", ref), "").json(200)["items"]
		require.Len(t, items, 1)
	})
}

// TestQuotaOfContacts refuses chats that an account begins, not those that
// contacts begin.
func TestQuotaOfContacts(t *testing.T) {
	withQuotas(t, quota.Limits{quota.Contacts: 1}, func(t *testing.T, ana client, ref int) {
		ana.send(t, ref, "to the first")
		ana.call(t, "POST", "/chats/send", sendBody(ref, "eve", `{"type":"text","text":"x"}`)).problem(403, "quota.contacts")
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"eve","type":"text","text":"hi"}`).json(201)
		ana.call(t, "POST", "/chats/send", sendBody(ref, "eve", `{"type":"text","text":"x"}`)).json(200)
		require.EqualValues(t, 2, ana.quota(t, "contacts")["used"])
	})
}

// TestQuotaOfReferences lets eight requests have the last two places at once.
func TestQuotaOfReferences(t *testing.T) {
	withQuotas(t, quota.Limits{quota.References: 3}, func(t *testing.T, ana client, _ int) {
		var wg sync.WaitGroup
		answers := make([]answer, 8)
		for i := range answers {
			wg.Go(func() { answers[i] = ana.call(t, "POST", "/reference", `{"name":"S","type":"provider-sandbox"}`) })
		}
		wg.Wait()
		made := 0
		for _, a := range answers {
			if a.Code == http.StatusCreated {
				made++
				continue
			}
			a.problem(403, "quota.references")
		}
		require.Equal(t, 2, made)
		require.EqualValues(t, 3, ana.quota(t, "references")["used"])
		items := ana.call(t, "GET", "/reference/list", "").json(200)["items"].([]any)
		ana.call(t, "DELETE", fmt.Sprintf("/reference/%v", items[0].(map[string]any)["id"]), "").json(202)
		ana.until(t, func() bool {
			return ana.call(t, "POST", "/reference", `{"name":"S","type":"provider-sandbox"}`).Code == http.StatusCreated
		}, "once it is deleted")
	})
}

// TestQuotaOfRequests bounds an account, and not another one.
func TestQuotaOfRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.Quotas = quota.Limits{quota.API: 3} })
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	for range 3 {
		ana.call(t, "GET", "/user/me", "").json(200)
	}
	over := ana.call(t, "GET", "/user/me", "")
	over.problem(429, "quota.api")
	require.NotEmpty(t, over.Header().Get("Retry-After"))
	ben.call(t, "GET", "/user/me", "").json(200)
	require.EqualValues(t, 2, ben.quota(t, "api")["used"])
}
