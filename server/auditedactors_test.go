package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/idp"
	"github.com/trunklinehq/trunkline/server"
)

// TestAuditOfFunctions changes things by functions, over the protocol and REST:
// the entries are those of the token, as of any other request.
func TestAuditOfFunctions(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		_, publish := ana.project(t)
		flow, bot := publish(paid), ana.bot(t, ref, greeter)
		ana.write(t, ref, "bob", "Hello")
		me := ana.call(t, "GET", "/user/me", "").json(200)["id"]
		made := ana.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"P","permissions":["mcp.execute","chats.send","bots.manage","flows.manage"],"expiresAt":%d}`,
			time.Now().Add(time.Hour).Unix())).json(201)
		program := client{f, made["token"].(string)}
		calls := []struct{ function, arguments, action string }{
			{"set_variable", fmt.Sprintf(`{"reference":%d,"chatId":"bob","name":"n","value":"canary"}`, ref), "chat.update"},
			{"toggle_bot", fmt.Sprintf(`{"reference":%d,"chatId":"bob","active":false}`, ref), "chat.update"},
			{"set_bot_active", fmt.Sprintf(`{"reference":%d,"botId":%q,"active":false}`, ref, bot), "bot.update"},
			{"run_flow", fmt.Sprintf(`{"flowId":%q,"input":{"x":"canary"}}`, flow), "run.start"},
		}
		for kind, by := range map[string]client{"token": program, "login": ana} {
			for _, c := range calls {
				for proxy, a := range map[string]answer{
					"mcp":     by.rpc(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.function, c.arguments)),
					"execute": by.call(t, "POST", "/service-mcp/execute", fmt.Sprintf(`{"function":%q,"arguments":%s}`, c.function, c.arguments)),
					"batch":   by.call(t, "POST", "/service-mcp/batch", fmt.Sprintf(`{"calls":[{"function":%q,"arguments":%s}]}`, c.function, c.arguments)),
				} {
					require.Equal(t, 200, a.Code, "%s %s %s", kind, proxy, c.function)
					e := ana.audited(t, "limit=10&kind="+kind+"&action="+c.action)
					i := 0
					for i < len(e) && e[i]["requestId"] != a.Header().Get("X-Request-Id") {
						i++
					}
					require.Less(t, i, len(e), "%s %s %s: %s", kind, proxy, c.function, a.Body.String())
					actor := e[i]["actor"].(map[string]any)
					require.Equal(t, []any{me, "ana@example.org", nil, "192.0.2.1"}, []any{actor["userId"], actor["email"], actor["runId"], e[i]["address"]})
					if kind == "token" {
						require.Equal(t, made["id"], actor["tokenId"])
					}
				}
			}
		}
		before := ana.audited(t, "limit=200")
		require.Contains(t, program.rpc(t, "tools/call", fmt.Sprintf(`{"name":"set_variable","arguments":{"reference":%d,"chatId":"bob","name":"n","value":"x","valueType":"number"}}`, ref)).Body.String(), "isError")
		program.call(t, "POST", "/service-mcp/execute", `{"function":"list_chats","arguments":{}}`).failed(403, "forbidden")
		ana.rpc(t, "tools/call", `{"name":"list_references","arguments":{}}`)
		require.Equal(t, before, ana.audited(t, "limit=200"), "what is refused, and what reads")
		require.NotContains(t, ana.call(t, "GET", "/audit?limit=200", "").Body.String(), "canary")
	})
}

// TestAuditOfAgents has agents change things: the entries name the run, and the
// user by whose rights it did.
func TestAuditOfAgents(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		owner := f.as(t, "owner")
		ref := owner.sandbox(t)
		_, publish := owner.project(t)
		other := publish(paid)
		flow := publish(helping(`"approval": "never", "tools": ["set_variable", "run_flow", "list_references"]`))
		owner.write(t, ref, "ana", "Hello")
		m.Add(toolCall("1", "set_variable", `{"name":"n","value":"canary"}`), toolCall("2", "set_variable", `{"name":"","value":"canary"}`), llmtest.Say("Done."))
		inChat := owner.start(t, fmt.Sprintf(`{"flowId":%q,"chatId":"ana","reference":%d,"input":{"text":"Go"}}`, flow, ref))
		require.Equal(t, "Done.", inChat["output"])
		m.Add(toolCall("1", "list_references", `{}`), toolCall("2", "run_flow", fmt.Sprintf(`{"flowId":%q}`, other)), llmtest.Say("Done."))
		alone := owner.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"text":"Go"}}`, flow))
		if alone["waitingFor"] == "approval" {
			_, alone = owner.decide(t, alone, true)
		}
		require.Equal(t, "Done.", alone["output"])
		me := owner.call(t, "GET", "/user/me", "").json(200)["id"]
		entries := owner.audited(t, "kind=agent")
		require.Equal(t, []string{"run.start", "chat.update"}, actions(entries), "one for each change, none for what was refused or read")
		for i, run := range []map[string]any{alone, inChat} {
			actor := entries[i]["actor"].(map[string]any)
			require.Equal(t, []any{me, "owner@example.org", nil, run["id"]}, []any{actor["userId"], actor["email"], actor["tokenId"], actor["runId"]})
		}
		require.Equal(t, owner.runs(t, "parent="+alone["id"].(string))[0]["id"], entries[0]["object"].(map[string]any)["id"])
		require.EqualValues(t, ref, entries[1]["reference"])
		require.NotContains(t, owner.call(t, "GET", "/audit", "").Body.String(), "canary")
	})
}

// TestAuditOfInvitations has an invited person come in.
func TestAuditOfInvitations(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil)
		ana := f.as(t, "ana")
		out := ana.call(t, "POST", "/user/invitation", `{"email":"cleo@example.org","role":"agent"}`).json(201)
		_, token, _ := strings.Cut(out["link"].(string), "#")
		accept := fmt.Sprintf(`{"token":%q,"name":"Cleo","password":"battery staple","cookie":true}`, token)
		a := f.do(t, "POST", "/user/invitation/accept", accept)
		user := a.json(201)["user"].(map[string]any)["id"]
		f.do(t, "POST", "/user/invitation/accept", accept).problem(422, "validation")
		entries := ana.audited(t, "action=invitation.accept")
		require.Len(t, entries, 1)
		actor := entries[0]["actor"].(map[string]any)
		require.Equal(t, []any{user, "cleo@example.org", "cookie"}, []any{actor["userId"], actor["email"], actor["kind"]})
		require.Equal(t, []any{"192.0.2.1", a.Header().Get("X-Request-Id")}, []any{entries[0]["address"], entries[0]["requestId"]})
		require.Equal(t, []string{"invitation.accept", "invitation.create", "account.create"}, actions(ana.audited(t, "")))
		require.NotContains(t, ana.call(t, "GET", "/audit", "").Body.String(), token)
	})
}

// TestAuditOfSignIn signs in at a provider, for the first time and again, and
// connects a user.
func TestAuditOfSignIn(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		there := idp.New(t, "http://localhost:3000/user/oidc/callback")
		there.LogIn(anaThere)
		f := setupOn(t, db, func(c *server.Config) {
			c.OIDC = server.OIDC{Issuer: there.Issuer, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret}
		})
		b := newBrowser(f)
		in := b.signIn(t, there)
		require.Equal(t, http.StatusFound, in.Code)
		me := b.get(t, "/user/me").json(200)["id"]
		require.Equal(t, http.StatusFound, b.signIn(t, there).Code)
		items := b.get(t, "/audit").json(200)["items"].([]any)
		require.Len(t, items, 2)
		for i, action := range []string{"user.login", "account.create"} {
			e := items[i].(map[string]any)
			actor := e["actor"].(map[string]any)
			require.Equal(t, []any{action, "cookie", me, "ana@example.org", "192.0.2.1"}, []any{e["action"], actor["kind"], actor["userId"], actor["email"], e["address"]})
		}
		require.Equal(t, in.Header().Get("X-Request-Id"), items[1].(map[string]any)["requestId"])

		ben := f.as(t, "ben")
		connect := func(who idp.User) answer {
			there.LogIn(who)
			b := newBrowser(f)
			started := ben.call(t, "POST", "/user/oidc/connect", `{"password":"correct horse"}`)
			b.keep(started)
			return b.get(t, "/user/oidc/callback?"+there.Authorize(t, started.json(200)["url"].(string)).Encode())
		}
		refusedPage(t, connect(anaThere), 409, "Another user has connected this identity")
		require.Equal(t, []string{"account.create"}, actions(ben.audited(t, "")), "what only begins, and what is refused")
		done := connect(idp.User{Subject: "id-of-ben", Email: "ben@example.org", Name: "Ben", Verified: true})
		require.Equal(t, http.StatusFound, done.Code)
		entries := ben.audited(t, "action=user.connect")
		require.Len(t, entries, 1)
		require.Equal(t, "ben@example.org", entries[0]["object"].(map[string]any)["name"])
		require.Equal(t, []any{"cookie", done.Header().Get("X-Request-Id")}, []any{entries[0]["actor"].(map[string]any)["kind"], entries[0]["requestId"]})
	})
}
