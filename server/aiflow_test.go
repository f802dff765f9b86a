package server_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Documents of a project: a function, a flow that calls it in a loop, and one
// that waits for an event.
const (
	vat = `{
		"format": "trunkline-flow/1", "kind": "function", "slug": "vat", "name": "VAT", "start": "give",
		"args": {"net": {"type": "number", "required": true}}, "returns": {"gross": {"type": "number"}},
		"nodes": {"give": {"type": "return", "config": {"value": {"gross": "{{ args.net * %s }}"}}}}
	}`
	invoice = `{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "invoice", "name": "Invoice", "start": "begin",
		"variables": {"sum": {"type": "number", "default": 0}, "one": {"type": "object"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "each"}},
			"each": {"type": "loop", "config": {"kind": "each", "items": "input.items"}, "next": {"body": "add", "done": "end"}},
			"add": {"type": "call", "config": {"function": "vat", "args": {"net": "{{ item }}"}, "saveTo": "one"}, "next": {"out": "sum"}},
			"sum": {"type": "set", "config": {"assign": [{"var": "sum", "op": "increment", "value": "{{ vars.one.gross }}"}]}},
			"end": {"type": "end", "config": {"result": "{{ vars.sum }}"}}
		}
	}`
	paid = `{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "paid", "name": "Paid", "start": "begin",
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "keyword", "keywords": ["pay"]}]}, "next": {"out": "wait"}},
			"wait": {"type": "wait", "config": {"event": "paid", "match": "input.data.amount >= 10"}, "next": {"out": "thanks"}},
			"thanks": {"type": "message", "config": {"text": "Thank you!"}}
		}
	}`
)

// project makes a project and returns a function that makes and publishes a
// flow in it.
func (c client) project(t *testing.T) (id string, publish func(draft string) string) {
	t.Helper()
	id = c.call(t, "POST", "/aiflow/project", `{"name":"Shop","description":"All of it"}`).json(201)["id"].(string)
	return id, func(draft string) string {
		t.Helper()
		f := c.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"F","draft":%s}`, id, draft)).json(201)
		require.Empty(t, f["problems"])
		c.call(t, "POST", fmt.Sprintf("/aiflow/flow/%s/publish", f["id"]), "").json(200)
		return f["id"].(string)
	}
}

// start begins a run of a flow and returns it once it has ended, or waits.
func (c client) start(t *testing.T, body string) map[string]any {
	t.Helper()
	return c.after(t, "/aiflow/run/", c.call(t, "POST", "/aiflow/run", body).json(201), "running")
}

// after returns a run, which an answer showed, once it is in none of some
// statuses any more: answers wait for that, but not for long.
func (c client) after(t *testing.T, path string, run map[string]any, statuses ...any) map[string]any {
	t.Helper()
	c.until(t, func() bool {
		if slices.Contains(statuses, run["status"]) {
			run = c.call(t, "GET", path+run["id"].(string), "").json(200)
		}
		return !slices.Contains(statuses, run["status"])
	})
	return run
}

// TestFlowRun runs a flow that calls a function in a loop, which is pinned.
func TestFlowRun(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		_, publish := ana.project(t)
		function := publish(fmt.Sprintf(vat, "1.5"))
		flow := publish(invoice)
		start := func() map[string]any {
			return ana.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"items":[10,20]}}`, flow))
		}
		run := start()
		require.Equal(t, "completed", run["status"])
		require.Equal(t, 45, count(run["output"]))
		require.Nil(t, run["chatId"])
		d := ana.call(t, "GET", "/aiflow/run/"+run["id"].(string), "").json(200)
		paths := map[string]bool{}
		for _, step := range d["steps"].([]any) {
			paths[fmt.Sprint(step.(map[string]any)["path"])] = true
		}
		require.True(t, paths["[each[1] call:vat]"], paths)

		ana.call(t, "PATCH", "/aiflow/flow/"+function, fmt.Sprintf(`{"draft":%s}`, fmt.Sprintf(vat, "2"))).json(200)
		ana.call(t, "POST", "/aiflow/flow/"+function+"/publish", "").json(200)
		require.Equal(t, 45, count(start()["output"]), "it calls what it was published with")
		require.Equal(t, 2, count(ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").json(200)["published"].(map[string]any)["version"]))
		require.Equal(t, 60, count(start()["output"]))
		ana.call(t, "POST", "/aiflow/flow/"+flow+"/rollback", `{"version":1}`).json(200)
		require.Equal(t, 45, count(start()["output"]))
		require.Len(t, ana.call(t, "GET", "/aiflow/run?limit=3&flowId="+flow, "").json(200)["items"], 3)
		require.Len(t, ana.call(t, "GET", "/aiflow/flow/"+flow+"/versions", "").json(200)["items"], 2)

		ana.call(t, "POST", "/aiflow/run", fmt.Sprintf(`{"flowId":%q}`, function)).problem(409, "conflict")
		outcome := ana.call(t, "POST", "/service-mcp/execute", fmt.Sprintf(`{"function":"run_flow","arguments":{"flowId":%q,"input":{"items":[2]}}}`, flow)).json(200)
		require.Equal(t, map[string]any{"result": 3.0}, outcome["result"].(map[string]any)["output"])
	})
}

// TestFlowInAChat binds a flow to a reference, and gives its run an event.
func TestFlowInAChat(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		_, publish := ana.project(t)
		flow := publish(paid)
		ana.write(t, ref, "bob", "pay")
		ana.call(t, "PUT", "/aiflow/flow/"+flow+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true,"priority":3}`, ref)).
			is(200, fmt.Sprintf(`{"items":[{"reference":%d,"enabled":true,"priority":3}],"next":null}`, ref))
		ana.write(t, ref, "bob", "pay")
		var run string
		ana.until(t, func() bool {
			items := ana.call(t, "GET", "/aiflow/run?status=waiting", "").json(200)["items"].([]any)
			if len(items) != 1 {
				return false
			}
			r := items[0].(map[string]any)
			run = r["id"].(string)
			return r["waitingFor"] == "event" && r["chatId"] == "bob@sandbox"
		})
		post := func(body string) map[string]any {
			return ana.call(t, "POST", "/aiflow/run/"+run+"/event", body).json(200)
		}
		require.Equal(t, "waiting", post(`{"name":"paid","data":{"amount":5}}`)["status"], "it does not match")
		published := ana.after(t, "/aiflow/run/", post(`{"name":"paid","data":{"amount":12}}`), "waiting", "running")
		require.Equal(t, "completed", published["status"])
		ana.awaitShown(t, ref, "bob", "out: pay", "out: pay", "in: Thank you!")
		ana.call(t, "POST", "/aiflow/run/"+run+"/cancel", "").problem(409, "conflict")

		by := ana.start(t, fmt.Sprintf(`{"flowId":%q,"chatId":"carl"}`, flow))
		require.Equal(t, ref, count(by["reference"]), "the one reference that it is bound to")
		ended := ana.call(t, "POST", "/aiflow/run/"+by["id"].(string)+"/cancel", "{}").json(200)
		require.Equal(t, "cancelled", ended["status"])

		other := publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"note","name":"Note","start":"b","nodes":{"b":{"type":"trigger","config":{"on":[{"kind":"api"}]}}}}`)
		body := fmt.Sprintf(`{"flowId":%q,"chatId":"bob"}`, other)
		require.Equal(t, ref, count(ana.call(t, "POST", "/aiflow/run", body).json(201)["reference"]), "the one reference that has the chat")
		body = fmt.Sprintf(`{"flowId":%q,"chatId":"nobody"}`, other)
		require.Equal(t, "body.reference", ana.call(t, "POST", "/aiflow/run", body).problem(422, "validation").Errors[0].Location)
	})
}

// TestFlowDraft keeps drafts apart by their revisions.
func TestFlowDraft(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		project, publish := ana.project(t)
		a := ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"F"}`, project))
		flow := a.json(201)
		path := "/aiflow/flow/" + flow["id"].(string)
		require.Equal(t, `"1"`, a.Header().Get("ETag"))
		require.Equal(t, map[string]any{}, flow["draft"])
		require.Nil(t, flow["published"])
		require.NotEmpty(t, flow["problems"])
		p := ana.call(t, "POST", path+"/publish", "{}").problem(422, "validation")
		require.Contains(t, p.Errors[0].Location, "body.draft")
		ana.call(t, "POST", "/aiflow/run", fmt.Sprintf(`{"flowId":%q}`, flow["id"])).problem(409, "conflict")

		ana.call(t, "PATCH", path, `{"draft":{"x":1}}`, "If-Match", `"1"`).json(200)
		ana.call(t, "PATCH", path, `{"draft":{"x":2}}`, "If-Match", `"1"`).problem(412, "precondition_failed")
		ana.call(t, "PATCH", path, `{"draft":{"x":2}}`, "If-Match", `"one"`).problem(412, "precondition_failed")
		require.Equal(t, 3, count(ana.call(t, "PATCH", path, `{"name":"G"}`, "If-Match", `"2"`).json(200)["revision"]))
		publish(paid)
		ana.call(t, "PATCH", path, `{"draft":`+paid+`}`).json(200)
		require.Equal(t, "slug.taken", ana.call(t, "POST", path+"/publish", "").problem(422, "validation").Errors[0].Code)

		require.Len(t, ana.call(t, "GET", "/aiflow/flow/list?projectId="+project, "").json(200)["items"], 2)
		ana.call(t, "DELETE", path, "").is(200, `{"success":true}`)
		ana.call(t, "PATCH", "/aiflow/project/"+project, `{"name":"Store"}`).json(200)
		require.Equal(t, "Store", ana.call(t, "GET", "/aiflow/project/list", "").json(200)["items"].([]any)[0].(map[string]any)["name"])
		ana.call(t, "DELETE", "/aiflow/project/"+project, "").is(200, `{"success":true}`)
		require.Empty(t, ana.call(t, "GET", "/aiflow/flow/list", "").json(200)["items"])
	})
}

// TestFlowKeepsNumbers gives a run a number that no float64 holds.
func TestFlowKeepsNumbers(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		_, publish := ana.project(t)
		flow := publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"id","name":"Id","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"end"}},"end":{"type":"end","config":{"result":"{{ input.id }}"}}}}`)
		body := fmt.Sprintf(`"flowId":%q,"input":{"id":9007199254740993}`, flow)
		require.Contains(t, ana.call(t, "POST", "/aiflow/run", "{"+body+"}").Body.String(), `"output":9007199254740993`)
		outcome := ana.call(t, "POST", "/service-mcp/execute", `{"function":"run_flow","arguments":{`+body+`}}`)
		require.Contains(t, outcome.Body.String(), `{"result":9007199254740993}`)
	})
}
