package functions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCatalogue compares what is published of the functions with what was
// reviewed. A difference needs another functions.Version, which is in the
// file: patch for texts, minor for what was added, major for anything else.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		require.NoError(t, enc.Encode(map[string]any{"version": f.registry.Version(), "functions": f.registry.Functions(), "tools": f.registry.Tools()}))
		golden := filepath.Join("testdata", "catalogue.json")
		if *update {
			require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String())
		require.Equal(t, functions.Version, f.registry.Version())
		require.Len(t, f.registry.Functions(), 12)
	})
}

// TestChat walks through a conversation.
func TestChat(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		at := fmt.Sprintf(`"reference":%d,"chatId":"maria"`, f.ref)
		asked := f.write(f.ref, "maria", "Are you open?")
		sent := f.result("send_message", `{%s,"text":"Until nine.","replyTo":%q}`, at, asked)
		require.Equal(t, map[string]any{
			"messageId": sent["messageId"], "chatId": "maria@sandbox", "reference": float64(f.ref), "status": "DELIVERED",
		}, sent)

		history := f.result("get_chat_history", `{%s}`, at)
		require.Empty(t, history["next"])
		said := history["messages"].([]any)
		require.Len(t, said, 2)
		require.Equal(t, "Until nine.", said[0].(map[string]any)["text"])
		require.Equal(t, map[string]any{"messageId": asked}, said[0].(map[string]any)["context"])
		require.Equal(t, sent["messageId"], said[0].(map[string]any)["id"])
		require.Equal(t, "Are you open?", said[1].(map[string]any)["text"])
		page := f.result("get_chat_history", `{%s,"limit":1}`, at)
		require.Equal(t, said[:1], page["messages"])
		older := f.result("get_chat_history", `{%s,"limit":1,"before":%q}`, at, page["next"])
		require.Equal(t, said[1:], older["messages"])

		chats := f.result("list_chats", `{"reference":%d,"search":"mar"}`, f.ref)
		require.Len(t, chats["chats"], 1)
		chat := chats["chats"].([]any)[0].(map[string]any)
		require.Equal(t, "maria@sandbox", chat["id"])
		require.EqualValues(t, 1, chat["unread"])
		require.Empty(t, f.result("list_chats", `{"reference":%d,"search":"nobody"}`, f.ref)["chats"])

		read := map[string]any{"chatId": "maria@sandbox", "reference": float64(f.ref), "unread": 0.0}
		require.Equal(t, read, f.result("mark_read", `{%s,"messageId":%q}`, at, asked))
		require.Equal(t, read, f.result("mark_read", `{%s}`, at))
	})
}

// TestPictures leaves out of records what no model can read.
func TestPictures(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		phone := sandbox.Phone{Inbox: f.svc, Reference: f.ref, Name: "maria"}
		_, err := phone.Write(t.Context(), provider.Media{
			Kind: provider.Image, Caption: "Look", File: provider.File{MIME: "image/jpeg", Thumbnail: []byte("tiny picture")},
		})
		require.NoError(t, err)
		page, err := f.svc.For("ana").Messages(t.Context(), f.ref, "maria", messaging.History{})
		require.NoError(t, err)
		require.NotEmpty(t, page.Items[0].JPEGThumbnail, "it is kept")
		said := f.result("get_chat_history", `{"reference":%d,"chatId":"maria"}`, f.ref)["messages"].([]any)[0].(map[string]any)
		last := f.result("list_chats", `{"reference":%d}`, f.ref)["chats"].([]any)[0].(map[string]any)["lastMessage"].(map[string]any)
		for _, m := range []map[string]any{said, last} {
			require.Equal(t, "image", m["type"])
			require.Equal(t, "Look", m["caption"])
			require.Empty(t, m["jpegThumbnail"])
		}
	})
}

// TestChatPages pages through chats.
func TestChatPages(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		for i := range 3 {
			f.write(f.ref, fmt.Sprintf("guest%d", i), "Hello")
		}
		first := f.result("list_chats", `{"reference":%d,"limit":2}`, f.ref)
		require.Len(t, first["chats"], 2)
		rest := f.result("list_chats", `{"reference":%d,"limit":2,"cursor":%q}`, f.ref, first["next"])
		require.Len(t, rest["chats"], 1)
		require.Empty(t, rest["next"])
	})
}

// TestToggleBot silences bots in a chat. Concurrent calls must each see the state
// that the one before has left.
func TestToggleBot(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		at := fmt.Sprintf(`"reference":%d,"chatId":"maria"`, f.ref)
		state := func(now, before float64) map[string]any {
			return map[string]any{"chatId": "maria@sandbox", "reference": float64(f.ref), "botActive": now, "previousState": before}
		}
		require.Equal(t, state(0, 1), f.plan("toggle_bot", `{%s,"active":false}`, at))
		require.Equal(t, state(0, 1), f.result("toggle_bot", `{%s,"active":false}`, at))
		require.Equal(t, state(0, 0), f.result("toggle_bot", `{%s,"active":false}`, at))
		require.Equal(t, state(1, 0), f.plan("toggle_bot", `{%s,"active":true}`, at))
		require.Equal(t, state(1, 0), f.result("toggle_bot", `{%s,"active":true}`, at))

		var wg sync.WaitGroup
		outs := make([]mcp.Outcome, 8)
		for i := range outs {
			wg.Go(func() {
				outs[i] = f.registry.Execute(t.Context(), everything("ana"), mcp.Request{
					Function: "toggle_bot", Arguments: json.RawMessage(fmt.Sprintf(`{%s,"active":false}`, at)),
				})
			})
		}
		wg.Wait()
		first := 0
		for _, o := range outs {
			require.True(t, o.Success, "%v", o.Error)
			first += int(decode(t, o.Result)["previousState"].(float64))
		}
		require.Equal(t, 1, first, "one of them has silenced it")
	})
}

// TestVariables stores values of each type and reads them back.
func TestVariables(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		at := fmt.Sprintf(`"reference":%d,"chatId":"maria"`, f.ref)
		f.refused("not_found", "", "get_variables", `{%s}`, at)
		set := func(name, value, kind string) {
			f.result("set_variable", `{%s,"name":%q,"value":%q,"valueType":%q}`, at, name, value, kind)
		}
		require.Equal(t, map[string]any{"chatId": "maria@sandbox", "reference": float64(f.ref), "name": "city", "value": " Lima "},
			f.result("set_variable", `{%s,"name":"city","value":" Lima "}`, at))
		set("order", "9007199254740993", "number")
		set("vip", "true", "boolean")
		set("basket", ` {"items":[1,null]} `, "json")
		set("gone", "x", "string")
		set("gone", "null", "json")
		out := f.call("get_variables", `{%s}`, at)
		require.True(t, out.Success)
		var got struct{ Variables map[string]json.RawMessage }
		require.NoError(t, json.Unmarshal(out.Result, &got))
		for name, want := range map[string]string{"city": `" Lima "`, "order": "9007199254740993", "vip": "true", "basket": `{"items":[1,null]}`} {
			require.Equal(t, want, string(got.Variables[name]), name)
		}
		require.Len(t, got.Variables, 4)

		for kind, values := range map[string][]string{
			"number": {"", "x", "true", `"1"`, "null", "[]", "1 2", "0x1", "01"}, "boolean": {"", "1", "TRUE", "null"}, "json": {"", "{", "{}{}", "'a'"},
		} {
			for _, v := range values {
				f.refused("invalid_arguments", "value", "set_variable", `{%s,"name":"n","value":%q,"valueType":%q}`, at, v, kind)
				require.False(t, f.callAs(everything("ana"), "set_variable", fmt.Sprintf(`{%s,"name":"n","value":%q,"valueType":%q}`, at, v, kind), true).Success)
			}
		}
		f.refused("invalid_arguments", "valueType", "set_variable", `{%s,"name":"n","value":"1","valueType":"date"}`, at)
		long := string(bytes.Repeat([]byte("x"), 65_000))
		f.refused("invalid_arguments", "value", "set_variable", `{%s,"name":%q,"value":%q}`, at, long[:200], long+long[:530])
		require.Equal(t, "n", f.plan("set_variable", `{%s,"name":"n","value":"1"}`, at)["name"])
	})
}

// TestReferences lists references with their states.
func TestReferences(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		f.reference("ben")
		second := f.reference("ana")
		refs := f.result("list_references", `{}`)["references"].([]any)
		require.Len(t, refs, 2, "not those of others")
		reference := refs[0].(map[string]any)
		require.EqualValues(t, f.ref, reference["id"])
		require.Equal(t, "Shop of ana", reference["name"])
		require.Equal(t, "provider-sandbox", reference["type"])
		require.Equal(t, "CONNECTED", reference["state"])
		require.Contains(t, reference["send"], "text")
		require.Len(t, f.result("list_references", `{"type":"provider-sandbox"}`)["references"], 2)
		require.Empty(t, f.result("list_references", `{"type":"provider-cloud"}`)["references"])

		status := f.result("get_reference_status", `{"reference":%d}`, second)
		require.Greater(t, status["connectedAt"], 1e9)
		delete(status, "connectedAt")
		require.Equal(t, map[string]any{
			"reference": float64(second), "name": "Shop of ana", "type": "provider-sandbox", "state": "CONNECTED", "lastError": "",
		}, status)
		_, err := f.svc.For("ana").Sessions().Logout(t.Context(), second)
		require.NoError(t, err)
		status = f.result("get_reference_status", `{"reference":%d}`, second)
		require.Equal(t, "LOGGED_OUT", status["state"])
		require.Zero(t, status["connectedAt"])
		f.refused("session_not_connected", "", "send_message", `{"reference":%d,"chatId":"maria","text":"x"}`, second)
		require.Equal(t, map[string]any{"allowed": false, "reason": "session_not_connected", "sentAs": "text", "earliest": nil, "windowExpiresAt": nil},
			f.plan("send_message", `{"reference":%d,"chatId":"maria","text":"x"}`, second))
		require.Equal(t, map[string]any{"templates": []any{}}, f.result("list_templates", `{"reference":%d}`, f.ref))
	})
}

// TestPlans shows that a dry run says what would happen, refuses what would be
// refused, and changes nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		asked := f.write(f.ref, "maria", "Hello")
		at := fmt.Sprintf(`"reference":%d,"chatId":"maria"`, f.ref)
		before := f.result("list_chats", `{"reference":%d}`, f.ref)
		require.Equal(t, true, f.plan("send_message", `{%s,"text":"Hi","replyTo":%q}`, at, asked)["allowed"])
		require.EqualValues(t, 1, f.plan("mark_read", `{%s,"messageId":%q}`, at, asked)["unreadNow"])
		require.EqualValues(t, 0, f.plan("toggle_bot", `{%s,"active":false}`, at)["botActive"])
		require.Equal(t, "maria@sandbox", f.plan("set_variable", `{%s,"name":"a","value":"1"}`, at)["chatId"])
		for function, arguments := range map[string]string{
			"send_message": `{"reference":REF,"chatId":"maria","text":"Hi","replyTo":"nothing"}`,
			"mark_read":    `{"reference":REF,"chatId":"maria","messageId":"nothing"}`,
			"toggle_bot":   `{"reference":999,"chatId":"maria","active":false}`,
			"set_variable": `{"reference":999,"chatId":"maria","name":"a","value":"1"}`,
		} {
			out := f.callAs(everything("ana"), function, strings.ReplaceAll(arguments, "REF", fmt.Sprint(f.ref)), true)
			require.False(t, out.Success, function)
			require.Equal(t, "not_found", out.Error.Code, function)
		}
		require.Equal(t, before, f.result("list_chats", `{"reference":%d}`, f.ref))
	})
}

// TestOthers calls every function with objects of another account, which must look
// as if they did not exist.
func TestOthers(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		theirs := f.reference("ben")
		secret := f.write(theirs, "maria", "For Ben only")
		f.write(f.ref, "maria", "For Ana")
		for function, arguments := range map[string]string{
			"toggle_bot":           `{"reference":%d,"chatId":"maria","active":false}`,
			"send_message":         `{"reference":%d,"chatId":"maria","text":"Hi"}`,
			"mark_read":            `{"reference":%d,"chatId":"maria"}`,
			"set_variable":         `{"reference":%d,"chatId":"maria","name":"a","value":"1"}`,
			"get_variables":        `{"reference":%d,"chatId":"maria"}`,
			"get_chat_history":     `{"reference":%d,"chatId":"maria"}`,
			"list_chats":           `{"reference":%d}`,
			"get_reference_status": `{"reference":%d}`,
			"list_templates":       `{"reference":%d}`,
		} {
			for _, ref := range []provider.ReferenceID{theirs, 999_999} {
				f.refused("not_found", "", function, arguments, ref)
			}
			require.False(t, f.callAs(everything("ana"), function, fmt.Sprintf(arguments, theirs), true).Success, "%s, dry", function)
		}
		f.refused("not_found", "replyTo", "send_message", `{"reference":%d,"chatId":"maria","text":"Hi","replyTo":%q}`, f.ref, secret)
		f.refused("not_found", "", "mark_read", `{"reference":%d,"chatId":"maria","messageId":%q}`, f.ref, secret)
		out := f.callAs(everything("ben"), "get_chat_history", fmt.Sprintf(`{"reference":%d,"chatId":"maria"}`, theirs), false)
		require.Len(t, decode(t, out.Result)["messages"], 1, "nothing has come of it")
	})
}

// TestPermissions calls every function without its permission.
func TestPermissions(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		for _, tool := range f.registry.Tools() {
			require.NotEmpty(t, tool.Permission, tool.Name)
			for _, lacking := range []string{tool.Permission, mcp.PermissionExecute} {
				c := everything("ana")
				c.May = func(p string) bool { return p != lacking }
				require.Equal(t, "forbidden", f.callAs(c, tool.Name, `{}`, false).Error.Code, tool.Name)
			}
			c := everything("ana")
			c.May = func(p string) bool { return p == tool.Permission || p == mcp.PermissionExecute }
			out := f.callAs(c, tool.Name, `{}`, false)
			require.True(t, out.Success || out.Error.Code == mcp.CodeInvalidArguments, tool.Name)
		}
	})
}

// engines are flows and bots of a program that has its own.
type engines struct {
	mu   sync.Mutex
	ran  []functions.FlowRun
	bots map[string]bool
}

func (e *engines) RunFlow(_ context.Context, account string, run functions.FlowRun) (functions.FlowResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if account != "ana" || run.FlowID != "welcome" {
		return functions.FlowResult{}, &mcp.Error{Code: mcp.CodeNotFound, Message: "there is no such flow"}
	}
	e.ran = append(e.ran, run)
	return functions.FlowResult{RunID: fmt.Sprint(len(e.ran)), Status: "completed", Output: run.Input}, nil
}

func (e *engines) SwitchBot(_ context.Context, _ string, _ provider.ReferenceID, botID string, active bool) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, ok := e.bots[botID]
	if !ok {
		return false, messaging.ErrNotFound
	}
	e.bots[botID] = active
	return before, nil
}

// TestEngines runs flows and switches bots where the program has them.
func TestEngines(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, f fixture) {
		f.refused("unavailable", "", "run_flow", `{"flowId":"welcome"}`)
		f.refused("unavailable", "", "set_bot_active", `{"reference":%d,"botId":"b","active":true}`, f.ref)
		require.Equal(t, "unavailable", f.callAs(everything("ana"), "run_flow", `{"flowId":"welcome"}`, true).Error.Code)
	})
	e := &engines{bots: map[string]bool{"b": true}}
	opts := &functions.Options{Flows: e, Bots: e}
	f := setup(t, openSQLite(t), opts)
	run := f.result("run_flow", `{"flowId":"welcome","reference":%d,"chatId":"maria","input":{"order":9007199254740993}}`, f.ref)
	require.Equal(t, "1", run["runId"])
	require.Equal(t, "completed", run["status"])
	require.Equal(t, "9007199254740993", string(e.ran[0].Input["order"]))
	require.Equal(t, functions.FlowRun{FlowID: "welcome", Reference: f.ref, ChatID: "maria", Input: e.ran[0].Input}, e.ran[0])
	require.Equal(t, map[string]any{}, f.result("run_flow", `{"flowId":"welcome"}`)["output"])
	require.Equal(t, "welcome", f.plan("run_flow", `{"flowId":"welcome"}`)["flowId"])
	require.Len(t, e.ran, 2, "a dry run runs nothing")
	f.refused("not_found", "", "run_flow", `{"flowId":"none"}`)
	f.refused("invalid_arguments", "input", "run_flow", `{"flowId":"welcome","input":[1]}`)

	bot := map[string]any{"botId": "b", "reference": float64(f.ref), "active": false, "previousState": true}
	require.Equal(t, false, f.plan("set_bot_active", `{"reference":%d,"botId":"b","active":false}`, f.ref)["active"])
	require.Equal(t, bot, f.result("set_bot_active", `{"reference":%d,"botId":"b","active":false}`, f.ref))
	bot["previousState"] = false
	require.Equal(t, bot, f.result("set_bot_active", `{"reference":%d,"botId":"b","active":false}`, f.ref))
	f.refused("not_found", "", "set_bot_active", `{"reference":%d,"botId":"none","active":false}`, f.ref)
}
