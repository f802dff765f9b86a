package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// calls are requests in the shapes of the interface that the service was asked
// for, and the members of what they were answered with.
type calls struct {
	client
	ref, cloud int // a sandbox, and a number of the Cloud API
	chat       string

	sent     map[string]map[string]any // bodies by "POST /bot/:id/run"
	answered map[string]map[string]any
}

// make sends a request. key is the route as the interface writes it, path what
// it becomes; the answer must have at least the members.
func (c *calls) make(t *testing.T, key, path, body string, status int, members ...string) map[string]any {
	t.Helper()
	method, _, _ := strings.Cut(key, " ")
	a := c.call(t, method, path, body)
	out := map[string]any{}
	require.Equal(t, status, a.Code, "%s: %s", key, a.Body)
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &out), a.Body.String())
	for _, name := range members {
		require.Contains(t, out, name, "%s: %s", key, a.Body)
	}
	if body != "" {
		sent := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(body), &sent))
		c.sent[key] = sent
	}
	c.answered[key] = out
	return out
}

// id makes a request and returns the id of what it made.
func (c *calls) id(t *testing.T, key, path, body string, members ...string) string {
	t.Helper()
	return c.make(t, key, path, body, 201, append(members, "id")...)["id"].(string)
}

// TestInterface sends each request of the interface in its exact shape to a
// server, and compares the members of the answers.
func TestInterface(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := cloudNumber("870")
		var f fixture
		g := startGraph(t, &graphOptions{
			Numbers: []graphtest.Number{l}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		g.Templates.Put(shipped(l.BusinessAccountID))
		f = working(t, setupOn(t, db, func(c *server.Config) { c.GraphURL = g.URL }))
		c := &calls{client: client{fixture: f}, sent: map[string]map[string]any{}, answered: map[string]map[string]any{}}
		c.users(t)
		c.references(t, l)
		c.webhooks(t)
		c.chats(t, g)
		c.templates(t)
		c.bots(t)
		c.flows(t)
		c.extractors(t)
		c.usage(t)
		c.functions(t)
		c.callback(t, l)
		t.Run("the interface itself", c.asWritten)
	})
	t.Run("payloads", payloadsAsWritten)
}

func (c *calls) users(t *testing.T) {
	t.Helper()
	c.make(t, "POST /user/signup", "/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"Ana"}`, 201, "token", "expiresAt", "user")
	c.token = c.make(t, "POST /user/login", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`, 200, "token", "expiresAt", "user")["token"].(string)
	c.make(t, "POST /user/reset", "/user/reset", `{"email":"ana@example.org"}`, 202, "success")
	me := c.make(t, "GET /user/me", "/user/me", "", 200, "id", "accountId", "email", "name", "permissions", "createdAt")
	c.make(t, "PATCH /user/:id", "/user/"+me["id"].(string), `{"name":"Ana Roth"}`, 200, "id", "name")
	c.make(t, "GET /user/permissions", "/user/permissions", "", 200, "permissions", "catalogue")
}

func (c *calls) references(t *testing.T, l graphtest.Number) {
	t.Helper()
	members := []string{"id", "name", "type", "settings", "session", "capabilities", "createdAt", "updatedAt"}
	made := c.make(t, "POST /reference", "/reference", reference(l), 201, members...)
	c.cloud = int(made["id"].(float64))
	c.ref = c.sandbox(t)
	c.make(t, "GET /reference/list", "/reference/list", "", 200, "items", "next")
	c.make(t, "GET /reference/:id", fmt.Sprint("/reference/", c.cloud), "", 200, members...)
	session := []string{"reference", "state", "qr", "pairingCode", "account", "connectedAt", "health", "lastError", "node"}
	c.make(t, "POST /reference/session/start", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, c.cloud), 200, session...)
	c.make(t, "GET /reference/session/status", fmt.Sprint("/reference/session/status?reference=", c.cloud), "", 200, session...)
	other := c.sandbox(t)
	c.make(t, "POST /reference/session/logout", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, other), 200, session...)
}

func (c *calls) webhooks(t *testing.T) {
	t.Helper()
	body := fmt.Sprintf(`{"id":"%d","webhook":"https://example.org/in","headers":[{"key":"X-Secret","value":"hush"}]}`, c.ref)
	out := c.make(t, "POST /references/hookconf", "/references/hookconf", body, 200)
	require.ElementsMatch(t, []string{"success", "message", "data"}, slices.Collect(maps.Keys(out)))
	require.Equal(t, []any{true, map[string]any{}}, []any{out["success"], out["data"]})
	require.IsType(t, "", out["message"])
	c.make(t, "POST /references/hookconf", "/references/hookconf", body, 200, "success", "message", "data")
	c.make(t, "POST /references/registerWebHook", "/references/registerWebHook", strings.Replace(body, "/in", "/other", 1), 201,
		"endpointId", "id", "reference", "webhook", "headers", "events", "secret")
}

func (c *calls) chats(t *testing.T, g *graphtest.Server) {
	t.Helper()
	c.chat = "bob@sandbox"
	c.write(t, c.ref, "bob", "Hello")
	_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
	require.NoError(t, err)
	c.make(t, "GET /chats/list", fmt.Sprint("/chats/list?reference=", c.ref), "", 200, "items", "next")
	c.make(t, "GET /chats/messages", fmt.Sprintf("/chats/messages?reference=%d&chatId=bob@sandbox", c.ref), "", 200, "items", "next")
	sent := c.make(t, "POST /chats/send", "/chats/send?wait=30", fmt.Sprintf(
		`{"reference":%d,"chatId":%q,"message":{"type":"template","template":{"name":"order_shipped","language":{"code":"en_US"},"components":%s}}}`,
		c.cloud, contact, filledOrder), 200, "success", "message")
	record := sent["message"].(map[string]any)
	for _, name := range []string{"reference", "remoteJid", "mine", "id", "pushName", "verifiedBizName", "messageTimestamp", "type", "status", "chatId", "direction", "actor"} {
		require.Contains(t, record, name)
	}
	require.Equal(t, []any{true, true, contact + "::single"}, []any{sent["success"], record["mine"], record["remoteJid"]})
}

func (c *calls) templates(t *testing.T) {
	t.Helper()
	members := []string{"id", "reference", "name", "category", "language", "components", "status"}
	made := c.make(t, "POST /templates", "/templates", fmt.Sprintf(
		`{"reference":%d,"name":"spring_offer","category":"MARKETING","language":"en_US","components":[{"type":"BODY","text":"Spring is here."}]}`, c.cloud), 201, members...)
	require.Contains(t, []any{"PENDING", "APPROVED"}, made["status"])
	list := c.make(t, "GET /templates", fmt.Sprint("/templates?reference=", c.cloud), "", 200, "items", "next")["items"].([]any)
	require.NotEmpty(t, list)
	for _, name := range members {
		require.Contains(t, list[0], name)
	}
}

func (c *calls) bots(t *testing.T) {
	t.Helper()
	members := []string{"reference", "name", "trigger", "flow", "status", "version", "createdAt", "updatedAt"}
	id := c.id(t, "POST /bot", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Greeter","trigger":"always"}`, c.ref), members...)
	require.Equal(t, "always", c.make(t, "GET /bot/:id", "/bot/"+id, "", 200, members...)["trigger"])
	c.make(t, "PATCH /bot/:id", "/bot/"+id, `{"flow":`+greeter+`}`, 200, members...)
	require.Equal(t, "published", c.make(t, "POST /bot/:id/publish", "/bot/"+id+"/publish", "", 200, members...)["status"])
	run := c.make(t, "POST /bot/:id/run", "/bot/"+id+"/run", `{"chatId":"bob@sandbox","input":"Hi"}`, 200, "run")["run"]
	for _, name := range []string{"id", "status", "waitingFor", "steps", "sent", "variables"} {
		require.Contains(t, run, name)
	}
	c.call(t, "DELETE", "/bot/"+id, "").json(200)
}

func (c *calls) flows(t *testing.T) {
	t.Helper()
	project := c.id(t, "POST /aiflow/project", "/aiflow/project", `{"name":"Shop","description":"All of it"}`, "name", "description")
	flow := c.id(t, "POST /aiflow/flow", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Paid","draft":%s}`, project, paid),
		"projectId", "name", "draft", "revision", "problems", "published")
	c.make(t, "POST /aiflow/flow/:id/publish", "/aiflow/flow/"+flow+"/publish", "", 200, "id", "published")
	run := []string{"id", "flowId", "version", "reference", "chatId", "status", "input", "output", "error", "usage", "startedAt", "endedAt"}
	made := c.make(t, "POST /aiflow/run", "/aiflow/run", fmt.Sprintf(`{"flowId":%q,"chatId":"bob@sandbox","input":{"order":"17"}}`, flow), 201, run...)
	require.Equal(t, []any{flow, map[string]any{"order": "17"}}, []any{made["flowId"], made["input"]})
	list := c.make(t, "GET /aiflow/run", "/aiflow/run?flowId="+url.QueryEscape(flow)+"&limit=5", "", 200, "items", "next")["items"].([]any)
	require.Len(t, list, 1)
	for _, name := range run {
		require.Contains(t, list[0], name)
	}
}

func (c *calls) extractors(t *testing.T) {
	t.Helper()
	members := []string{"name", "kind", "scope", "config", "enabled"}
	id := c.id(t, "POST /extractor", "/extractor", fmt.Sprintf(
		`{"name":"Order","kind":"regex","scope":{"reference":%d},"config":{"pattern":"#(?P<order>\\d+)"}}`, c.ref), members...)
	c.make(t, "GET /extractor/:id", "/extractor/"+id, "", 200, members...)
	c.make(t, "POST /extractor/:id/run", "/extractor/"+id+"/run", `{"text":"where is #17?"}`, 200, "values", "matches", "usage", "durationMs")
	for _, kind := range []string{"AI", "Intent", "Entity", "Regex"} {
		config := map[string]string{
			"AI": `{"model":"mock/m","schema":{"type":"object","properties":{"a":{"type":"string"}}}}`, "Entity": `{"types":["email"]}`, "Regex": `{"pattern":"(?P<a>x)"}`,
			"Intent": `{"intents":[{"name":"a","examples":["one","two"]},{"name":"b","examples":["three","four"]}]}`,
		}[kind]
		c.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"E","kind":%q,"scope":{"reference":%d},"config":%s}`, kind, c.ref, config)).json(201)
	}
}

func (c *calls) usage(t *testing.T) {
	t.Helper()
	c.make(t, "GET /aiusage/rollup", "/aiusage/rollup", "", 200, "items", "total", "truncated")
	c.make(t, "GET /aiusage/detail", "/aiusage/detail", "", 200, "items", "next")
	c.make(t, "GET /aiusage/missing-pricing", "/aiusage/missing-pricing", "", 200, "items")
}

func (c *calls) functions(t *testing.T) {
	t.Helper()
	catalogue := c.make(t, "GET /service-mcp/functions", "/service-mcp/functions", "", 200)
	require.ElementsMatch(t, []string{"version", "count", "functions"}, slices.Collect(maps.Keys(catalogue)))
	require.EqualValues(t, 12, catalogue["count"])
	var names []string
	for _, f := range catalogue["functions"].([]any) {
		f := f.(map[string]any)
		names = append(names, f["name"].(string))
		for _, name := range []string{"name", "description", "arguments", "returns"} {
			require.Contains(t, f, name)
		}
		for _, a := range f["arguments"].(map[string]any) {
			require.Contains(t, a, "type")
			require.Contains(t, a, "required")
		}
		require.Contains(t, f["returns"], "type")
		require.Contains(t, f["returns"], "properties")
	}
	require.Subset(t, names, []string{"toggle_bot", "send_message", "mark_read", "set_variable", "get_chat_history", "set_bot_active", "get_reference_status"})
	toggle := fmt.Sprintf(`{"function":"toggle_bot","arguments":{"reference":%d,"chatId":"bob@sandbox","active":false}}`, c.ref)
	done := c.make(t, "POST /service-mcp/execute", "/service-mcp/execute", toggle, 200)
	require.ElementsMatch(t, []string{"success", "function", "result", "error", "executionTime", "timestamp"}, slices.Collect(maps.Keys(done)))
	require.Equal(t, []any{true, "toggle_bot", nil}, []any{done["success"], done["function"], done["error"]})
	require.Equal(t, map[string]any{"chatId": "bob@sandbox", "reference": float64(c.ref), "botActive": 0.0, "previousState": 1.0}, done["result"])
	_, err := time.Parse(time.RFC3339, done["timestamp"].(string))
	require.NoError(t, err)
	batch := c.make(t, "POST /service-mcp/batch", "/service-mcp/batch", `{"calls":[`+toggle+`,{"function":"nothing","arguments":{}}]}`, 200, "results")["results"].([]any)
	require.Equal(t, []any{true, false}, []any{batch[0].(map[string]any)["success"], batch[1].(map[string]any)["success"]})
}

func (c *calls) callback(t *testing.T, l graphtest.Number) {
	t.Helper()
	const key = "POST /webhooks/provider"
	require.Equal(t, 200, c.post(t, text(l.PhoneNumberID, l.BusinessAccountID, contact, "wamid.interface", "Hi"), l.AppSecret).Code)
	c.answered[key] = map[string]any{}
	a := c.do(t, "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=7&hub.verify_token="+url.QueryEscape(l.VerifyToken), "")
	require.Equal(t, []any{200, "7"}, []any{a.Code, a.Body.String()})
}

var (
	route  = regexp.MustCompile(`^\| *(GET|POST|PATCH|\([a-z ]+\)) *\| *(/[^ |]+) *\|(.*)\|$`)
	shape  = regexp.MustCompile("request `(\\{[^`]*\\})`")
	given  = regexp.MustCompile("(?:returns|response is) `(\\{[^`]*\\})`")
	member = regexp.MustCompile(`([a-zA-Z]+):`)
)

// top are the names of the members of a shape such as {a: string, b: {c: integer}}.
func top(shape string) []string {
	depth, flat := 0, strings.Builder{}
	for _, r := range shape {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		default:
			if depth == 1 {
				flat.WriteRune(r)
			}
		}
	}
	var out []string
	for _, m := range member.FindAllStringSubmatch(flat.String(), -1) {
		out = append(out, m[1])
	}
	return out
}

// asWritten holds the calls against the interface as the user wrote it: each of
// its routes was called, with the members of its request and no others.
func (c *calls) asWritten(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "interface.md"))
	require.NoError(t, err)
	routes, shapes := 0, 0
	for row := range strings.Lines(string(raw)) {
		m := route.FindStringSubmatch(strings.TrimSpace(row))
		if m == nil {
			continue
		}
		routes++
		key := m[1] + " " + m[2]
		if strings.HasPrefix(m[1], "(") { // its method is not said
			key = anyMethod(c.answered, m[2])
		}
		require.Contains(t, c.answered, key, "a route that is not called")
		if s := shape.FindStringSubmatch(m[3]); s != nil {
			shapes++
			require.ElementsMatch(t, top(s[1]), slices.Collect(maps.Keys(c.sent[key])), key)
		}
		if s := given.FindStringSubmatch(m[3]); s != nil {
			shapes++
			require.ElementsMatch(t, top(s[1]), slices.Collect(maps.Keys(c.answered[key])), key)
		}
	}
	require.GreaterOrEqual(t, routes, 35)
	require.GreaterOrEqual(t, shapes, 10)
	for name, of := range map[string]any{
		"{name: string, language: {code: string}, components: array}": c.sent["POST /chats/send"]["message"].(map[string]any)["template"],
		"{type: string, template: object}":                            c.sent["POST /chats/send"]["message"],
		"{id: string, webhook: string, headers: array}":               c.sent["POST /references/hookconf"],
	} {
		require.ElementsMatch(t, top(name), slices.Collect(maps.Keys(of.(map[string]any))))
	}
}

// anyMethod is the call of a path whose method the interface leaves open.
func anyMethod(answered map[string]map[string]any, path string) string {
	for key := range answered {
		if _, p, _ := strings.Cut(key, " "); p == path {
			return key
		}
	}
	return "no method of " + path
}

var field = regexp.MustCompile(`([A-Za-z]+) \((integer|string|base64 string)`)

// payloadsAsWritten holds the events on file against the tables of the
// interface: each member is there, and of its type.
func payloadsAsWritten(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "interface.md"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(raw), "Common fields on every message payload:")
	require.True(t, ok)
	commonTable, rest, ok := strings.Cut(rest, "Fields by type")
	require.True(t, ok)
	typeTable, _, ok := strings.Cut(rest, "### Status-change payload")
	require.True(t, ok)
	common := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-zA-Z]+) \| (string|integer|boolean) \|`).FindAllStringSubmatch(commonTable, -1) {
		common[m[1]] = m[2]
	}
	require.Len(t, common, 9)
	types := 0
	for _, m := range regexp.MustCompile(`(?m)^\| (text|image|video|document|audio) \| (.*) \|$`).FindAllStringSubmatch(typeTable, -1) {
		types++
		want := maps.Clone(common)
		for _, f := range field.FindAllStringSubmatch(m[2], -1) {
			want[f[1]] = strings.TrimPrefix(f[2], "base64 ")
		}
		var file struct {
			Webhooks []struct {
				Event   string
				Payload map[string]any
			}
		}
		golden, err := os.ReadFile(filepath.Join("testdata", "types", "received", m[1]+".json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(golden, &file))
		require.Equal(t, "message", file.Webhooks[0].Event)
		for name, kind := range want {
			value, is := file.Webhooks[0].Payload[name]
			require.True(t, is, "%s lacks %s", m[1], name)
			zero := map[string]any{"string": "", "integer": 0.0, "boolean": false}[kind]
			if value != "<now>" { // stands for a number
				require.IsType(t, zero, value, "%s of %s", name, m[1])
			}
		}
	}
	require.Equal(t, 5, types)
}
