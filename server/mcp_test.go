package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// withTestFunctions registers functions that fail in every way.
func withTestFunctions(c *server.Config) {
	c.Functions = func(s *server.Server) error {
		type none struct{}
		add := func(name string, f mcp.Function[none, none]) error {
			f.Name, f.Description = name, "Fails on purpose."
			return mcp.Register(s.MCP, f)
		}
		returns := func(err error) func(context.Context, mcp.Call, none) (none, error) {
			return func(context.Context, mcp.Call, none) (none, error) { return none{}, err }
		}
		return errors.Join(
			add("test_panics", mcp.Function[none, none]{Handler: func(context.Context, mcp.Call, none) (none, error) { panic("hidden words") }}),
			add("test_hangs", mcp.Function[none, none]{Timeout: 20 * time.Millisecond, Handler: func(ctx context.Context, _ mcp.Call, _ none) (none, error) {
				<-ctx.Done()
				return none{}, ctx.Err()
			}}),
			add("test_once", mcp.Function[none, none]{Limit: 1, Handler: returns(nil)}),
			add("test_leaks", mcp.Function[none, none]{Handler: returns(errors.New("pq: password authentication failed"))}),
			add("test_busy", mcp.Function[none, none]{Handler: returns(&messaging.Error{Code: messaging.CodeRateLimited, Message: "Later.", After: 1500 * time.Millisecond})}),
			add("test_manages", mcp.Function[none, none]{Permission: "orders.manage", Handler: returns(nil)}),
		)
	}
}

// execute calls a function over REST.
func (c client) execute(t *testing.T, function, arguments string) answer {
	t.Helper()
	return c.call(t, "POST", "/service-mcp/execute", fmt.Sprintf(`{"function":%q,"arguments":%s}`, function, arguments))
}

// executed is the result of a call that succeeds.
func (c client) executed(t *testing.T, function, arguments string) map[string]any {
	t.Helper()
	a := c.execute(t, function, arguments).json(200)
	require.Equal(t, true, a["success"])
	return a["result"].(map[string]any)
}

// failed is the error of a call that fails.
func (a answer) failed(status int, code string) map[string]any {
	a.t.Helper()
	out := a.json(status)
	require.Equal(a.t, false, out["success"])
	require.Nil(a.t, out["result"])
	e := out["error"].(map[string]any)
	require.Equal(a.t, code, e["code"], a.Body.String())
	return e
}

// varying are the parts of an outcome that differ each time.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`"(executionTime|connectedAt|createdAt|updatedAt|messageTimestamp)":[0-9.e-]+`),
	regexp.MustCompile(`"(timestamp)":"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"`),
	regexp.MustCompile(`"(messageId|id)":"sandbox-[^"]*"`),
}

// golden writes an answer as it is compared.
func (a answer) golden(about string) string {
	body := strings.TrimSpace(a.Body.String())
	for _, v := range varying {
		body = v.ReplaceAllString(body, `"$1":…`)
	}
	after := ""
	if v := a.Header().Get("Retry-After"); v != "" {
		after = " Retry-After: " + v
	}
	return fmt.Sprintf("### %s\n%d %s%s\n%s\n\n", about, a.Code, a.Header().Get("Content-Type"), after, body)
}

// compare holds what was answered against a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestExecute compares every kind of answer with what was reviewed.
func TestExecute(t *testing.T) {
	t.Parallel()
	at := time.Now() // and no later: an answer says when to call again
	onDatabases(t, func(c *server.Config) {
		withTestFunctions(c)
		c.Now = func() time.Time { return at }
	}, func(t *testing.T, f fixture) {
		ben, ana := f.as(t, "ben"), f.as(t, "ana")
		theirs, ref := ben.sandbox(t), ana.sandbox(t)
		page := ana.reference(t, pageReference(messengerPage()))
		require.Equal(t, []int{1, 2, 3}, []int{theirs, ref, page})
		ana.write(t, ref, "ana", "Hello")
		var got strings.Builder
		for _, c := range []struct{ about, body string }{
			{"ok", `{"function":"toggle_bot","arguments":{"reference":2,"chatId":"ana@sandbox","active":false}}`},
			{"ok, sent", `{"function":"send_message","arguments":{"reference":2,"chatId":"ana","text":"Hi"}}`},
			{"ok, no arguments", `{"function":"list_references"}`},
			{"dry run", `{"function":"send_message","arguments":{"reference":2,"chatId":"ana","text":"Hi"},"dryRun":true}`},
			{"unknown function", `{"function":"drop_tables","arguments":{}}`},
			{"missing", `{"function":"toggle_bot","arguments":{}}`},
			{"missing arguments", `{"function":"toggle_bot"}`},
			{"unknown argument", `{"function":"list_references","arguments":{"kind":"x","Type":"y"}}`},
			{"wrong types", `{"function":"toggle_bot","arguments":{"reference":"2","chatId":7,"active":"no"}}`},
			{"null", `{"function":"toggle_bot","arguments":{"reference":null,"chatId":"ana","active":false}}`},
			{"out of range", `{"function":"get_chat_history","arguments":{"reference":0,"chatId":"","limit":101}}`},
			{"no whole number", `{"function":"get_reference_status","arguments":{"reference":1.5}}`},
			{"too large a number", `{"function":"get_reference_status","arguments":{"reference":1e30}}`},
			{"no choice", `{"function":"list_templates","arguments":{"reference":2,"status":"approved"}}`},
			{"a value that the function refuses", `{"function":"set_variable","arguments":{"reference":2,"chatId":"ana","name":"n","value":"x","valueType":"number"}}`},
			{"a cursor of nothing", `{"function":"get_chat_history","arguments":{"reference":2,"chatId":"ana","before":"AAAA"}}`},
			{"a chat that cannot be", `{"function":"get_variables","arguments":{"reference":2,"chatId":"@"}}`},
			{"arguments are an array", `{"function":"list_references","arguments":[]}`},
			{"arguments are a text", `{"function":"list_references","arguments":"{}"}`},
			{"arguments are null", `{"function":"list_references","arguments":null}`},
			{"an argument twice", `{"function":"get_reference_status","arguments":{"reference":2,"reference":1}}`},
			{"not found", `{"function":"get_reference_status","arguments":{"reference":999}}`},
			{"of another account", `{"function":"get_reference_status","arguments":{"reference":1}}`},
			{"answers nothing", `{"function":"send_message","arguments":{"reference":2,"chatId":"ana","text":"Hi","replyTo":"nothing"}}`},
			{"unsupported", `{"function":"list_templates","arguments":{"reference":3}}`},
			{"unavailable", `{"function":"run_flow","arguments":{"flowId":"x"}}`},
			{"forbidden", `{"function":"test_manages","arguments":{}}`},
			{"panic", `{"function":"test_panics","arguments":{}}`},
			{"timeout", `{"function":"test_hangs","arguments":{}}`},
			{"internal", `{"function":"test_leaks","arguments":{}}`},
			{"limited by a network", `{"function":"test_busy","arguments":{}}`},
			{"once", `{"function":"test_once","arguments":{}}`},
			{"limited", `{"function":"test_once","arguments":{}}`},
			{"no JSON", `{"function":`},
			{"no function", `{"arguments":{}}`},
			{"unknown member", `{"function":"list_references","args":{}}`},
		} {
			got.WriteString(ana.call(t, "POST", "/service-mcp/execute", c.body).golden(c.about + "\n" + c.body))
		}
		compare(t, "mcp_execute.txt", got.String())
		require.Contains(t, f.log.String(), "a function panicked", "the operator learns of it")
		require.Contains(t, f.log.String(), "password authentication failed")
	})
}

// TestExecuteOverCloud has a network that refuses.
func TestExecuteOverCloud(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		account := cloudNumber("900").BusinessAccountID
		g.Templates.Put(shipped(account))
		g.Templates.Put(named(account))
		require.Len(t, ana.executed(t, "list_templates", fmt.Sprintf(`{"reference":%d}`, ref))["templates"], 2)
		require.Empty(t, ana.executed(t, "list_templates", fmt.Sprintf(`{"reference":%d,"status":"REJECTED"}`, ref))["templates"])
		hi := fmt.Sprintf(`{"reference":%d,"chatId":%q,"text":"Hi"}`, ref, contact)
		e := ana.execute(t, "send_message", hi).failed(409, "window_closed")
		require.Contains(t, e["message"], "template")
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		g.Fail(graphtest.Fault{Code: 131009, Message: "(#131009) Parameter value is not valid", Details: "Too odd"})
		e = ana.execute(t, "send_message", hi).failed(502, "provider_error")
		require.Contains(t, e["message"], "131009")
		require.Contains(t, e["message"], "Too odd")
		require.Contains(t, ana.executed(t, "send_message", hi)["messageId"], "wamid.")
		long := fmt.Sprintf(`{"reference":%d,"chatId":%q,"text":%q}`, ref, contact, strings.Repeat("x", 5000))
		e = ana.execute(t, "send_message", long).failed(422, "invalid_arguments")
		require.Equal(t, "text", e["details"].([]any)[0].(map[string]any)["argument"])
	})
}

// TestCatalogueOverREST lists what there is, as the interface has it.
func TestCatalogueOverREST(t *testing.T) {
	t.Parallel()
	plain, more := setup(t, nil).as(t, "ana"), setup(t, withTestFunctions).as(t, "ana")
	list := plain.call(t, "GET", "/service-mcp/functions", "").json(200)
	require.Equal(t, "1.1.1", list["version"])
	require.EqualValues(t, 12, list["count"])
	require.Len(t, list["functions"], 12)
	for _, fn := range list["functions"].([]any) {
		fn := fn.(map[string]any)
		if fn["name"] != "toggle_bot" {
			continue
		}
		for name, kind := range map[string]string{"reference": "number", "chatId": "string", "active": "boolean"} {
			argument := at(t, fn, "arguments", name).(map[string]any)
			require.Equal(t, kind, argument["type"])
			require.Equal(t, true, argument["required"])
		}
		require.Equal(t, "object", at(t, fn, "returns", "type"))
		for name, kind := range map[string]string{"chatId": "string", "reference": "number", "botActive": "number", "previousState": "number"} {
			require.Equal(t, kind, at(t, fn, "returns", "properties", name, "type"))
		}
	}
	list = more.call(t, "GET", "/service-mcp/functions", "").json(200)
	require.EqualValues(t, 18, list["count"])
	require.Regexp(t, `^1\.1\.1\+[0-9a-f]{8}$`, list["version"])
}

// TestBatch calls many functions at once, of which one fails, and none twice.
func TestBatch(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.MCPLimit = 1000 }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		calls := make([]string, 50)
		for i := range calls {
			calls[i] = fmt.Sprintf(`{"function":"set_variable","arguments":{"reference":%d,"chatId":"guest%d","name":"n","value":"%d"}}`, ref, i%7, i)
		}
		calls[17] = `{"function":"nothing","arguments":{}}`
		calls[18] = `{"function":"set_variable"}`
		results := ana.call(t, "POST", "/service-mcp/batch", `{"calls":[`+strings.Join(calls, ",")+`]}`).json(200)["results"].([]any)
		require.Len(t, results, 50)
		for i, r := range results {
			r := r.(map[string]any)
			switch i {
			case 17:
				require.Equal(t, "unknown_function", at(t, r, "error", "code"))
			case 18:
				require.Equal(t, "invalid_arguments", at(t, r, "error", "code"))
			default:
				require.Equal(t, true, r["success"], r)
				require.Equal(t, fmt.Sprint(i), at(t, r, "result", "value"))
				require.Equal(t, fmt.Sprintf("guest%d@sandbox", i%7), at(t, r, "result", "chatId"))
			}
		}
		one := `{"function":"list_references"}`
		for body, location := range map[string]string{
			`{}`:           "body.calls",
			`{"calls":[]}`: "body.calls",
			`{"calls":[` + strings.Repeat(one+",", 50) + one + `]}`: "body.calls",
			`{"calls":[{"arguments":{}}]}`:                          "body.calls[0].function",
			`{"calls":[` + one + `,{"function":"x","a":1}]}`:        "body.calls[1].a",
		} {
			p := ana.call(t, "POST", "/service-mcp/batch", body).problem(422, "validation")
			require.Equal(t, location, p.Errors[0].Location, body)
		}
	})
}

// TestBatchLimit counts each call of a batch.
func TestBatchLimit(t *testing.T) {
	t.Parallel()
	at := time.Now()
	onDatabases(t, func(c *server.Config) {
		c.MCPLimit, c.MCPAccountLimit, c.Now = 5, 8, func() time.Time { return at }
	}, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		batch := func(c client, function string) (ok int) {
			one := fmt.Sprintf(`{"function":%q,"arguments":{"reference":%d}},`, function, ana.sandbox(t))
			for _, r := range c.call(t, "POST", "/service-mcp/batch", `{"calls":[`+strings.TrimSuffix(strings.Repeat(one, 10), ",")+`]}`).json(200)["results"].([]any) {
				if e, _ := r.(map[string]any)["error"].(map[string]any); e["code"] != "rate_limited" {
					ok++
				}
			}
			return ok
		}
		require.Equal(t, 5, batch(ana, "list_chats"), "of one function")
		require.Equal(t, 3, batch(ana, "get_reference_status"), "what is left of the account")
		require.Equal(t, 5, batch(ben, "list_chats"), "others have limits of their own")
		a := ben.execute(t, "list_chats", `{}`)
		a.failed(429, "rate_limited")
		require.Equal(t, "12", a.Header().Get("Retry-After"), "a fifth of a minute")
	})
}

// TestScopedToken calls with a program's token: it does what it names.
func TestScopedToken(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.write(t, ref, "ana", "Hello")
		token := func(permissions string) client {
			a := ana.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"Agent","permissions":%s,"expiresAt":%d}`, permissions, time.Now().Add(time.Hour).Unix()))
			return client{f, a.json(201)["token"].(string)}
		}
		chat := fmt.Sprintf(`{"reference":%d,"chatId":"ana"}`, ref)
		reader := token(`["mcp.execute","chats.read"]`)
		require.Len(t, reader.executed(t, "get_chat_history", chat)["messages"], 1)
		for _, function := range []string{"send_message", "toggle_bot", "mark_read", "set_variable", "list_references", "run_flow", "set_bot_active"} {
			e := reader.execute(t, function, chat).failed(403, "forbidden")
			require.Empty(t, e["details"], "nothing of the arguments is said")
		}
		require.Empty(t, ana.executed(t, "get_variables", chat)["variables"])
		require.EqualValues(t, 12, reader.call(t, "GET", "/service-mcp/functions", "").json(200)["count"])
		reader.call(t, "GET", "/service-mcp/audit", "").problem(403, "forbidden")
		sender := token(`["chats.read","chats.send"]`)
		require.Equal(t, 403, sender.execute(t, "get_chat_history", chat).Code)
		sender.execute(t, "get_chat_history", chat).problem(403, "forbidden")
	})
}

// TestAudit shows every call to those who manage users, and what was secret
// in none of them.
func TestAudit(t *testing.T) {
	t.Parallel()
	onDatabases(t, withTestFunctions, func(t *testing.T, f fixture) {
		ben, ana := f.as(t, "ben"), f.as(t, "ana")
		ref := ana.sandbox(t)
		me := ana.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		ben.execute(t, "list_references", `{}`).json(200)
		ana.execute(t, "send_message", fmt.Sprintf(`{"reference":%d,"chatId":"+1 650 555 1234","text":"hush-hush","apiToken":"hush-hush"}`, ref)).failed(422, "invalid_arguments")
		ana.execute(t, "send_message", fmt.Sprintf(`{"reference":%d,"chatId":"ana","text":"hush-hush"}`, ref)).json(200)
		ana.call(t, "POST", "/service-mcp/batch", `{"calls":[{"function":"test_manages"},{"function":"nothing","arguments":{"password":"hush-hush"}}]}`).json(200)
		list := func(query string) []any {
			a := ana.call(t, "GET", "/service-mcp/audit"+query, "")
			require.NotContains(t, a.Body.String(), "hush-hush")
			require.NotRegexp(t, `650.?555`, a.Body.String())
			return a.json(200)["items"].([]any)
		}
		all := list("")
		require.Len(t, all, 4, "none of ben's")
		outcomes := []string{}
		for _, e := range all {
			e := e.(map[string]any)
			require.Equal(t, me, e["userId"])
			require.Nil(t, e["tokenId"])
			require.InDelta(t, time.Now().Unix(), e["at"], 120)
			require.Contains(t, e, "durationMs")
			outcomes = append(outcomes, fmt.Sprint(e["function"], " ", e["outcome"]))
		}
		require.ElementsMatch(t, []string{"nothing unknown_function", "test_manages forbidden"}, outcomes[:2])
		require.Equal(t, []string{"send_message ok", "send_message invalid_arguments"}, outcomes[2:])
		require.Equal(t, map[string]any{"reference": float64(ref), "chatId": "ana", "text": "[private]"}, all[2].(map[string]any)["arguments"])
		require.Len(t, list("?outcome=ok"), 1)
		require.Len(t, list("?function=send_message&limit=1"), 1)
		require.Len(t, list("?user="+me), 4)
		require.Empty(t, list("?user=somebody"))
		require.Empty(t, list("?to=1"))
		require.Len(t, list(fmt.Sprintf("?from=%d", time.Now().Add(-time.Hour).Unix())), 4)
		next := ana.call(t, "GET", "/service-mcp/audit?limit=3", "").json(200)["next"].(string)
		require.Len(t, list("?limit=3&cursor="+next), 1)
	})
}

// TestRandomArguments calls every function with arguments that a confused
// model might make up: none is more than refused.
func TestRandomArguments(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := working(t, setupOn(t, db, func(c *server.Config) { c.MCPLimit, c.MCPAccountLimit = -1, -1 }))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.write(t, ref, "ana", "Hello")
	var list struct{ Functions []mcp.Descriptor }
	require.NoError(t, json.Unmarshal(ana.call(t, "GET", "/service-mcp/functions", "").Body.Bytes(), &list))
	random := rand.New(rand.NewPCG(1, 2))
	statuses := map[int]int{}
	for range 10_000 / 50 {
		calls := make([]string, 50)
		for i := range calls {
			fn := list.Functions[random.IntN(len(list.Functions))]
			calls[i] = fmt.Sprintf(`{"function":%q,"arguments":%s}`, fn.Name, confused(random, fn, ref))
		}
		a := ana.call(t, "POST", "/service-mcp/batch", `{"calls":[`+strings.Join(calls, ",")+`]}`)
		require.Equal(t, 200, a.Code, a.Body.String())
		var got struct{ Results []mcp.Outcome }
		require.NoError(t, json.Unmarshal(a.Body.Bytes(), &got))
		for i, o := range got.Results {
			require.True(t, o.Status() < 500 || o.Error.Code == mcp.CodeUnavailable, "%s\n%v", calls[i], o.Error)
			statuses[o.Status()]++
		}
	}
	t.Log(statuses)
	require.Positive(t, statuses[200])
	require.Positive(t, statuses[422])
	require.Positive(t, statuses[404])
}

// confused makes arguments for a function, most of them of the right names.
func confused(random *rand.Rand, fn mcp.Descriptor, ref int) string {
	values := []string{
		fmt.Sprint(ref), fmt.Sprint(ref), `"ana"`, `"ana@sandbox"`, `"1"`, "true", "false", "null", "0", "-1", "1.5", "1e30", "9007199254740993",
		"9223372036854775808", `""`, `"\u0000"`, `"\ud800"`, `[]`, `[1,"a"]`, `{}`, `{"a":{"b":[null]}}`, `"` + strings.Repeat("é", 600) + `"`,
		`"'; DROP TABLE mcp_audit; --"`, `"number"`, `"json"`, `"APPROVED"`, "10", `"%"`, `"{{7*7}}"`,
	}
	var members []string
	for name := range fn.Arguments {
		if random.IntN(10) > 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, values[random.IntN(len(values))]))
		}
	}
	if random.IntN(10) == 0 {
		members = append(members, fmt.Sprintf(`"extra":%s`, values[random.IntN(len(values))]))
	}
	if random.IntN(3) > 0 { // the line is right
		for i, m := range members {
			if strings.HasPrefix(m, `"reference":`) {
				members[i] = fmt.Sprintf(`"reference":%d`, ref)
			}
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestFunctionsOfAProgram refuses to start with functions that cannot be.
func TestFunctionsOfAProgram(t *testing.T) {
	t.Parallel()
	type none struct{}
	for name, change := range map[string]func(*server.Config){
		"twice": func(c *server.Config) {
			c.Functions = func(s *server.Server) error {
				return mcp.Register(s.MCP, mcp.Function[none, none]{
					Name: "send_message", Description: "Another one.", Handler: func(context.Context, mcp.Call, none) (none, error) { return none{}, nil },
				})
			}
		},
		"limit": func(c *server.Config) { c.MCPLimit = -2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := server.Config{DB: testkit.Open(t, testkit.SQLiteURL(t)), Secrets: []server.Secret{secret}}
			change(&cfg)
			_, err := server.New(t.Context(), cfg)
			require.Error(t, err)
		})
	}
}
