package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rehearsals are the paths of a bot and of a flow with the same draft.
func (c client) rehearsals(t *testing.T) map[string]string {
	t.Helper()
	bot := c.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"R","flow":%s}`, c.sandbox(t), pizzeria)).json(201)
	project := c.call(t, "POST", "/aiflow/project", `{"name":"R"}`).json(201)
	flow := c.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"R","draft":%s}`, project["id"], pizzeria)).json(201)
	require.Empty(t, bot["problems"])
	require.Empty(t, flow["problems"])
	return map[string]string{"bot": fmt.Sprint("/bot/", bot["id"]), "flow": fmt.Sprint("/aiflow/flow/", flow["id"])}
}

const pizzeria = `{
	"format": "trunkline-flow/1", "kind": "flow", "slug": "pizzeria", "name": "Pizzeria", "start": "begin",
	"variables": {"size": {"type": "string"}, "price": {"type": "object"}, "key": {"type": "string", "default": "hush-hush", "secret": true}},
	"nodes": {
		"begin": {"type": "trigger", "config": {"on": [{"kind": "keyword", "keywords": ["pizza"]}]}, "next": {"out": "ask"}},
		"ask": {"type": "question", "config": {"prompt": {"text": "Which size?"}, "saveTo": "size", "timeout": "PT1H"}, "next": {"out": "look", "timeout": "late"}},
		"look": {"type": "http", "config": {"url": "https://prices.example/{{ vars.size }}", "saveTo": "price"}, "next": {"out": "say", "error": "desk"}},
		"say": {"type": "message", "config": {"text": "That is {{ vars.price.body.euro }} euro."}},
		"desk": {"type": "handoff", "config": {"target": "desk"}, "next": {"closed": "bye"}},
		"late": {"type": "message", "config": {"text": "Another time."}},
		"bye": {"type": "end", "config": {"status": "cancelled"}}
	}
}`

// TestSimulate plays a conversation step by step; nothing is left of it.
func TestSimulate(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		for kind, path := range ana.rehearsals(t) {
			t.Run(kind, func(t *testing.T) {
				play := func(body string, state any) map[string]any {
					if state != nil {
						body = fmt.Sprintf(`{"state":%s,%s`, encode(t, state), strings.TrimPrefix(body, "{"))
					}
					return ana.call(t, "POST", path+"/simulate", body).json(200)
				}
				texts := func(r map[string]any) (out []any) {
					for _, m := range r["messages"].([]any) {
						out = append(out, m.(map[string]any)["message"].(map[string]any)["text"])
					}
					return out
				}
				started := play(`{"input":"pizza","given":{"mocks":[{"node":"look","result":{"status":200,"body":{"euro":9}}}]}}`, nil)
				require.Equal(t, []any{"Which size?"}, texts(started))
				require.Equal(t, "reply", started["waitingFor"])
				require.Equal(t, int(started["now"].(float64))+3600, int(started["until"].(float64)))
				require.Nil(t, started["ended"])
				require.NotContains(t, started["variables"], "key")

				done := play(`{"message":{"type":"text","text":"big"}}`, started["state"])
				require.Equal(t, []any{"That is 9 euro."}, texts(done))
				require.Equal(t, "call", done["effects"].([]any)[0].(map[string]any)["kind"])
				require.Equal(t, "https://prices.example/big", done["effects"].([]any)[0].(map[string]any)["data"].(map[string]any)["url"])
				require.Equal(t, "completed", done["ended"].(map[string]any)["status"])
				require.Equal(t, "big", done["variables"].(map[string]any)["size"])
				require.NotEmpty(t, done["steps"])

				late := play(`{"advance":"PT2H"}`, started["state"])
				require.Equal(t, []any{"Another time."}, texts(late), "the same state goes on in two ways")
				require.Equal(t, "cancelled", play(`{"cancel":true}`, started["state"])["ended"].(map[string]any)["status"])

				alone := play(`{"input":"big"}`, play(`{}`, nil)["state"])
				require.Equal(t, "handoff", alone["waitingFor"], "no mock answers")
				taken := play(`{"take":true}`, alone["state"])
				require.Nil(t, taken["ended"])
				require.Equal(t, "cancelled", play(`{"close":true}`, taken["state"])["ended"].(map[string]any)["status"])

				ana.call(t, "POST", path+"/simulate", fmt.Sprintf(`{"input":"x","state":%s}`, encode(t, done["state"]))).problem(409, "conflict")
				ana.call(t, "POST", path+"/simulate", fmt.Sprintf(`{"close":true,"state":%s}`, encode(t, started["state"]))).problem(409, "conflict")
				ana.call(t, "GET", path+"/versions", "").is(200, `{"items":[],"next":null}`)
			})
		}
		require.Empty(t, ana.call(t, "GET", "/aiflow/run", "").json(200)["items"])
		require.Empty(t, ana.call(t, "GET", "/chats/list?reference=1", "").json(200)["items"])
	})
}

// TestSimulateVersions plays what is published beside a draft that differs,
// with the functions that it calls.
func TestSimulateVersions(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	_, publish := ana.project(t)
	function := publish(fmt.Sprintf(vat, "1.5"))
	path := "/aiflow/flow/" + publish(invoice)
	ana.call(t, "PATCH", "/aiflow/flow/"+function, fmt.Sprintf(`{"draft":%s}`, fmt.Sprintf(vat, "2"))).json(200)
	ana.call(t, "POST", "/aiflow/flow/"+function+"/publish", "").json(200)
	output := func(more string) string {
		r := ana.call(t, "POST", path+"/simulate", `{"given":{"input":{"items":[10,20]}}`+more+`}`).json(200)
		return fmt.Sprint(r["ended"].(map[string]any)["output"])
	}
	require.Equal(t, "60", output(""), "the draft calls the function of today")
	require.Equal(t, "45", output(`,"version":1`))
	ana.call(t, "POST", path+"/simulate", `{"version":7}`).problem(404, "not_found")
	r := ana.call(t, "POST", "/aiflow/flow/"+function+"/simulate", `{"given":{"args":{"net":4}}}`).json(200)
	require.Equal(t, map[string]any{"gross": 8.0}, r["ended"].(map[string]any)["output"])
	p := ana.call(t, "POST", "/aiflow/flow/"+function+"/simulate", `{"given":{"args":{"net":"hush"}}}`).problem(422, "validation")
	require.Equal(t, "body.given", p.Errors[0].Location)

	ana.call(t, "PATCH", path, `{"draft":{"kind":"flow"}}`).json(200)
	p = ana.call(t, "POST", path+"/simulate", `{}`).problem(422, "validation")
	require.Contains(t, p.Errors[0].Location, "body.draft")
	require.Equal(t, "45", output(`,"version":1`))
}

// TestSimulateRefused gives what cannot be played, and states that somebody
// has changed.
func TestSimulateRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	path := ana.rehearsals(t)["bot"]
	state := ana.call(t, "POST", path+"/simulate", `{}`).json(200)["state"].(map[string]any)
	changed := func(change func(state map[string]any)) string {
		var s map[string]any
		require.NoError(t, json.Unmarshal(encode(t, state), &s))
		change(s)
		return fmt.Sprintf(`{"input":"x","state":%s}`, encode(t, s))
	}
	inner := func(name string, v any) string {
		return changed(func(s map[string]any) { s["state"].(map[string]any)[name] = v })
	}
	for body, place := range map[string]string{
		`{"advance":"PT1H"}`:                                 "body.state",
		`{"take":true}`:                                      "body.state",
		`{"input":"x","cancel":true}`:                        "body",
		`{"message":null}`:                                   "body.message",
		`{"message":7}`:                                      "body.message",
		`{"input":7}`:                                        "body.input",
		`{"given":{"nonsense":1}}`:                           "body.given.nonsense",
		`{"given":{"now":"9999-12-31T00:00:00Z"}}`:           "body.given.now",
		`{"given":{"mocks":[{"kind":"magic"}]}}`:             "body.given.mocks[0].kind",
		`{"given":7}`:                                        "body.given",
		`{"input":"x","given":{"input":{"text":"y"}}}`:       "body.given.input",
		`{"input":"x","state":{}}`:                           "body.state.state",
		`{"input":"x","state":{"state":{},"extra":1}}`:       "body.state.extra",
		`{"version":-1}`:                                     "body.version",
		changed(func(s map[string]any) { delete(s, "now") }): "body.state.now",
		changed(func(s map[string]any) { s["now"] = "0001-01-01T00:00:00Z" }):  "body.state.now",
		`{"given":{},` + strings.TrimPrefix(inner("steps", 1), "{"):            "body.given",
		strings.Replace(inner("steps", 1), `"input":"x"`, `"advance":"1h"`, 1): "body.advance",
		strings.Replace(inner("steps", 1), `"input":"x",`, ``, 1):              "body",
	} {
		p := ana.call(t, "POST", path+"/simulate", body).problem(422, "validation")
		require.NotEmpty(t, p.Errors, body)
		require.Equal(t, place, p.Errors[0].Location, body)
	}
	for _, body := range []string{ // nothing worse than an answer
		inner("hash", "x"), inner("frames", 7), inner("frames", []any{}), inner("frames", []any{map[string]any{"node": "nowhere"}}), inner("wait", nil),
		inner("wait", map[string]any{"kind": "reply", "node": "nowhere"}), inner("wait", map[string]any{"kind": "reply", "node": "begin"}),
	} {
		a := ana.call(t, "POST", path+"/simulate", body)
		require.Less(t, a.Code, 500, "%s: %s", body, a.Body)
	}
	ana.call(t, "PATCH", path, `{"flow":`+strings.Replace(pizzeria, "Which size?", "What size?", 1)+`}`).json(200)
	ana.call(t, "POST", path+"/simulate", inner("steps", 1)).problem(409, "conflict")
}

// pizzeriaTests pass but for the last.
const pizzeriaTests = `[
	{"name": "a price", "given": {"mocks": [{"kind": "http", "result": {"status": 200, "body": {"euro": 9}}}]}, "steps": [
		{"expect": "Which size?"}, {"send": "big"}, {"expect": "That is 9 euro."}, {"expect": {"ended": "completed"}}]},
	{"name": "nobody answers", "steps": [{"expect": {"waits": "reply", "rest": true}}, {"advance": "PT1H"}, {"expect": "Another time."}]},
	{"name": "wrong", "steps": [{"expect": "Which colour?"}]}
]`

// TestFlowTests keeps tests beside a bot and a flow, and plays them.
func TestFlowTests(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		for kind, path := range ana.rehearsals(t) {
			t.Run(kind, func(t *testing.T) {
				ana.call(t, "GET", path+"/test", "").is(200, `{"tests":[]}`)
				empty := ana.call(t, "POST", path+"/test", "").json(200)
				require.Equal(t, true, empty["passed"])
				require.Contains(t, empty["coverage"].(map[string]any)["missingNodes"], "say")
				kept := ana.call(t, "PUT", path+"/test", `{"tests":`+pizzeriaTests+`}`).json(200)
				require.Equal(t, kept, ana.call(t, "GET", path+"/test", "").json(200))
				require.JSONEq(t, pizzeriaTests, string(encode(t, kept["tests"])))

				r := ana.call(t, "POST", path+"/test", "{}").json(200)
				require.Equal(t, false, r["passed"])
				tests := r["tests"].([]any)
				require.Len(t, tests, 3)
				for i, passed := range []bool{true, true, false} {
					require.Equal(t, passed, tests[i].(map[string]any)["passed"], tests[i])
					require.NotEmpty(t, tests[i].(map[string]any)["steps"])
				}
				require.Equal(t, map[string]any{"step": 0.0, "message": `Expected the text "Which colour?", but it was "Which size?".`}, tests[2].(map[string]any)["failure"])
				coverage := r["coverage"].(map[string]any)
				require.Equal(t, []any{"bye", "desk"}, coverage["missingNodes"])
				require.Equal(t, []any{"desk.closed", "look.error"}, coverage["missingOutputs"])
				require.Equal(t, "3", fmt.Sprint(coverage["nodes"].(map[string]any)["ask"]))
				require.Equal(t, "1", fmt.Sprint(coverage["outputs"].(map[string]any)["ask.timeout"]))

				given := ana.call(t, "POST", path+"/test", `{"tests":[{"name":"to the desk","steps":[
					{"expect":"Which size?"},{"send":"big"},{"expect":{"did":"handoff"}},{"handoff":"closed"},{"expect":{"ended":"cancelled"}}]}]}`).json(200)
				require.Equal(t, true, given["passed"], given)
				require.Equal(t, kept, ana.call(t, "GET", path+"/test", "").json(200), "they are not kept")
				ana.call(t, "POST", path+"/test", `{"version":1}`).problem(404, "not_found")
			})
		}
	})
}

// TestFlowTestsRefused gives tests that cannot be played, and looks at those
// of others.
func TestFlowTestsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	for _, path := range ana.rehearsals(t) {
		for tests, place := range map[string]string{
			`[{}]`:                           "body.tests[0].name",
			`[{"name":"x","stepz":[]}]`:      "body.tests[0].stepz",
			`[{"name":"x","steps":[{}]}]`:    "body.tests[0].steps[0]",
			`[{"name":"x","steps":"all"}]`:   "body.tests[0].steps",
			`[{"name":"x","given":{"a":1}}]`: "body.tests[0].given.a",
			`[{"name":"x"},{"name":"y","steps":[{"send":"a"},{"advance":"1h"}]}]`:               "body.tests[1].steps[1].advance",
			`[{"name":"x","steps":[{"send":"a","cancel":true}]}]`:                               "body.tests[0].steps[0]",
			`[{"name":"x","steps":[{"expect":{"matches":"("}}]}]`:                               "body.tests[0].steps[0].expect.matches",
			`[{"name":"x","steps":[{"expect":{"ended":"never"}}]}]`:                             "body.tests[0].steps[0].expect.ended",
			`[{"name":"x","steps":[` + strings.Repeat(`{"send":"a"},`, 200) + `{"send":"a"}]}]`: "body.tests[0].steps",
			`[7]`: "body.tests[0]",
			`7`:   "body.tests",
			`[` + strings.Repeat(`{"name":"x","steps":[]},`, 100) + `{"name":"x","steps":[]}]`: "body.tests",
		} {
			for _, method := range []string{"PUT", "POST"} {
				p := ana.call(t, method, path+"/test", `{"tests":`+tests+`}`).problem(422, "validation")
				require.NotEmpty(t, p.Errors, tests)
				require.Equal(t, place, p.Errors[0].Location, tests)
			}
		}
		ana.call(t, "GET", path+"/test", "").is(200, `{"tests":[]}`)
		ben.call(t, "GET", path+"/test", "").problem(404, "not_found")
		ben.call(t, "PUT", path+"/test", `{"tests":[]}`).problem(404, "not_found")
		ben.call(t, "POST", path+"/test", ``).problem(404, "not_found")
		ben.call(t, "POST", path+"/simulate", `{}`).problem(404, "not_found")
	}
}
