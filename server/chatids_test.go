package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// chatRoute is an operation that takes a chat id.
type chatRoute struct {
	name   string
	member string // where the id stands: "body.chatId"
	method string
	path   func(ref int, id string) string
	body   func(ref int, id string) map[string]any
}

// inPath puts a chat id into a query.
func inPath(path, member string, more ...string) func(int, string) string {
	return func(ref int, id string) string {
		q := url.Values{"reference": {fmt.Sprint(ref)}, member: {id}}
		for i := 0; i+1 < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return path + "?" + q.Encode()
	}
}

// fixed is a path without a chat id.
func fixed(path string) func(int, string) string { return func(int, string) string { return path } }

// routeFlow is a flow that does nothing.
const routeFlow = `{"format":"trunkline-flow/1","kind":"flow","slug":"note","name":"Note","start":"b",
	"nodes":{"b":{"type":"trigger","config":{"on":[{"kind":"api"}]}}}}`

// chatDoors are all operations that take a chat id. What they need is made by c.
func chatDoors(t *testing.T, c client) []chatRoute {
	t.Helper()
	sandbox := c.sandbox(t)
	bot := c.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Greeter","trigger":"manual"}`, sandbox)).json(201)["id"].(string)
	project := c.call(t, "POST", "/aiflow/project", `{"name":"P","description":""}`).json(201)["id"].(string)
	flow := c.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"F","draft":%s}`, project, routeFlow)).json(201)["id"].(string)
	c.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").json(200)
	extractor := c.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"n","kind":"entity","scope":{"reference":%d},"config":{"types":["number"]}}`, sandbox)).json(201)["id"].(string)
	in := func(more map[string]any) func(int, string) map[string]any {
		return func(ref int, id string) map[string]any {
			out := map[string]any{"reference": ref, "chatId": id}
			for k, v := range more {
				out[k] = v
			}
			return out
		}
	}
	function := func(name string, more map[string]any) chatRoute {
		return chatRoute{name, "chatId", "POST", fixed("/service-mcp/execute"), func(ref int, id string) map[string]any {
			arguments := in(more)(ref, id)
			return map[string]any{"function": name, "arguments": arguments}
		}}
	}
	return []chatRoute{
		{"send", "body.chatId", "POST", fixed("/chats/send?wait=0"), in(map[string]any{"message": map[string]any{"type": "text", "text": "door"}})},
		{"dry run", "body.chatId", "POST", fixed("/chats/send?dryRun=1"), in(map[string]any{"message": map[string]any{"type": "text", "text": "door"}})},
		{"read", "body.chatId", "POST", fixed("/chats/read"), in(nil)},
		{"change", "body.chatId", "PATCH", fixed("/chats"), in(map[string]any{"botActive": 1})},
		{"call", "body.chatId", "POST", fixed("/chats/call/reject"), in(map[string]any{"callId": "c"})},
		{"group edit", "body.chatId", "PATCH", fixed("/chats/group"), in(map[string]any{"subject": "S"})},
		{"group", "query.chatId", "GET", inPath("/chats/group", "chatId"), nil},
		{"new group", "body.participants[0]", "POST", fixed("/chats/group"), func(ref int, id string) map[string]any {
			return map[string]any{"reference": ref, "subject": "S", "participants": []string{id}}
		}},
		{"messages", "query.chatId", "GET", inPath("/chats/messages", "chatId"), nil},
		{"resolve", "query.id", "GET", inPath("/chats/resolve", "id"), nil},
		{"check", "query.phone", "GET", inPath("/chats/check", "phone"), nil},
		{"export", "query.chatId", "GET", inPath("/chats/export", "chatId"), nil},
		{"delete", "query.chatId", "DELETE", inPath("/chats", "chatId"), nil},
		{"explain", "query.chatId", "GET", inPath("/chats/explain", "chatId", "messageId", "m"), nil},
		{"deliveries", "query.chatId", "GET", inPath("/references/deliveries", "chatId"), nil},
		{"calls of models", "query.chat", "GET", inPath("/aiusage/detail", "chat"), nil},
		{"flow run", "body.chatId", "POST", fixed("/aiflow/run"), in(map[string]any{"flowId": flow, "input": map[string]any{}})},
		{"replay", "body.chats[0].chatId", "POST", fixed("/aiflow/flow/" + flow + "/replay"), func(ref int, id string) map[string]any {
			return map[string]any{"chats": []map[string]any{in(nil)(ref, id)}}
		}},
		{"bot run", "body.chatId", "POST", fixed("/bot/" + bot + "/run"), func(_ int, id string) map[string]any {
			return map[string]any{"chatId": id, "input": "hello"}
		}},
		{"extractor", "body.chatId", "POST", fixed("/extractor/" + extractor + "/run"), in(map[string]any{"messageId": "m"})},
		{"simulated phone", "body.from", "POST", func(int, string) string { return fmt.Sprintf("/sandbox/%d/messages", sandbox) }, func(_ int, id string) map[string]any {
			return map[string]any{"from": id, "type": "text", "text": "door"}
		}},
		function("send_message", map[string]any{"text": "door"}), function("mark_read", nil), function("get_variables", nil),
		function("set_variable", map[string]any{"name": "n", "value": "v"}), function("get_chat_history", nil),
		function("toggle_bot", map[string]any{"active": true}),
	}
}

// randomID is a string that may or may not be a chat id.
func randomID(r *rand.Rand) string {
	parts := []string{
		"16505551234", "maria", "120363041234567890", "5552000000000009", "US.40070010020030040055", "@", "::", "single", "group", "@lid", "@g.us",
		"@s.whatsapp.net", "@sandbox", "@messenger", "@c.us", "::single", "::group", "+", " ", "-", "(650)", "é", "\u202e", "\x00", "\n", "٣٤٥", "😀", "%", "'", `"`, "\\",
		"..", "/", "null", "0", "-1", "1e9",
	}
	if r.IntN(50) == 0 {
		return strings.Repeat(parts[r.IntN(len(parts))], 1+r.IntN(300))
	}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			fmt.Fprint(&b, r.Uint64())
		case 1:
			b.WriteRune(rune(r.IntN(0x3000)))
		default:
			b.WriteString(parts[r.IntN(len(parts))])
		}
	}
	return b.String()
}

// TestRandomChatIDs gives random strings as chat ids to every operation that
// takes one, on references of three kinds. Each is taken, or refused with the
// member's name; a message goes out only to whom its caller named. 10,000
// strings on each database are ROUNDS=100.
func TestRandomChatIDs(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, cloud int, g *graphtest.Server) {
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Sheena", Text: "Hello"})
		require.NoError(t, err)
		doors := chatDoors(t, ana)
		refs := []int{cloud, ana.sandbox(t), ana.reference(t, `{"name":"W","type":"provider-web","settings":{}}`)}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		named := []string{}
		for range 100 * testkit.Rounds(2) {
			d, ref, id := doors[r.IntN(len(doors))], refs[r.IntN(len(refs))], randomID(r)
			named = append(named, digitsOf(id))
			tryRoute(t, ana, d, ref, id)
		}
		for _, m := range g.Shown("") {
			require.Contains(t, named, m.To, "a message went to whom nobody named")
		}
		ana.log.hasNoErrors(t)
	})
}

// tryRoute gives a chat id to an operation.
func tryRoute(t *testing.T, c client, d chatRoute, ref int, id string) {
	t.Helper()
	body := ""
	if d.body != nil {
		b, err := json.Marshal(d.body(ref, id))
		require.NoError(t, err)
		body = string(b)
	}
	a := c.call(t, d.method, d.path(ref, id), body)
	what := fmt.Sprintf("%s of %q: %d %s", d.name, id, a.Code, a.Body.String())
	require.Less(t, a.Code, http.StatusInternalServerError, what)
	if a.Code != http.StatusUnprocessableEntity {
		return
	}
	var p struct {
		Code   string
		Errors []struct{ Location string }
		Error  struct {
			Code    string
			Details []struct{ Argument string }
		}
	}
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &p), what)
	var at []string
	for _, e := range p.Errors {
		at = append(at, e.Location)
	}
	for _, e := range p.Error.Details {
		at = append(at, e.Argument)
	}
	if code := p.Code + p.Error.Code; code == "unsupported" {
		return // the reference cannot do that for anybody
	}
	require.True(t, slices.Contains(at, d.member), what)
}

// digitsOf are the digits that a caller wrote.
func digitsOf(id string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) && r < 128 {
			return r
		}
		return -1
	}, id)
}

// TestSimulatedPhone_TakesRemoteJID names a simulated contact and a group as
// the events of their messages do.
func TestSimulatedPhone_TakesRemoteJID(t *testing.T) {
	t.Parallel()
	ana := working(t, setup(t, nil)).as(t, "ana")
	ref := ana.sandbox(t)
	path := fmt.Sprintf("/sandbox/%d/messages", ref)
	ana.call(t, "POST", path, `{"from":"maria::single","type":"text","text":"Hello"}`).json(201)
	ana.call(t, "POST", path, `{"from":"maria@sandbox","group":"120363::group","type":"text","text":"Hello all"}`).json(201)
	for _, id := range []string{"maria@sandbox", "maria::single", "120363@g.us", "120363::group"} {
		a := ana.call(t, "GET", inPath("/chats/messages", "chatId")(ref, id), "").json(200)
		require.Len(t, a["items"], 1, id)
	}
	require.Len(t, ana.call(t, "GET", path+"?from=maria::single", "").json(200)["items"], 1)
	a := ana.call(t, "POST", path, `{"from":"120363::group","type":"text","text":"Hello"}`)
	require.Equal(t, "body.from", a.json(422)["errors"].([]any)[0].(map[string]any)["location"])
}
