package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestProjectsGuide imports the file of docs/projects.md: its flow is no flow
// yet, and is taken as a draft.
func TestProjectsGuide(t *testing.T) {
	t.Parallel()
	file := testkit.ReadGuide(t, "../docs/projects.md").Block(t, "file")
	ana := setup(t, nil).as(t, "ana")
	made := ana.call(t, "POST", "/aiflow/project/import", file).json(201)
	flow := made["flows"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"Shop", "Invoice", false}, []any{made["name"], flow["name"], flow["published"]})
	require.NotEmpty(t, flow["problems"])
}

// TestProjectTravels takes a project from one account to another, where it
// runs.
func TestProjectTravels(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		project, publish := ana.project(t)
		publish(fmt.Sprintf(vat, "1.5"))
		publish(invoice)
		ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"D","draft":{"<a>":[1.50,"\u0000"]}}`, project)).json(201)
		file := ana.call(t, "GET", "/aiflow/project/"+project+"/export", "").Body.String()
		ben.call(t, "GET", "/aiflow/project/"+project+"/export", "").problem(404, "not_found")

		made := ben.call(t, "POST", "/aiflow/project/import", file).json(201)
		require.NotEqual(t, project, made["id"])
		require.Equal(t, "Shop", made["name"])
		flows := made["flows"].([]any)
		require.Len(t, flows, 3)
		for i, x := range flows {
			require.Equal(t, i < 2, x.(map[string]any)["published"])
			require.Empty(t, x.(map[string]any)["problems"])
		}
		require.Equal(t, file, ben.call(t, "GET", fmt.Sprintf("/aiflow/project/%s/export", made["id"]), "").Body.String())
		flow := flows[1].(map[string]any)["id"]
		run := ben.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"items":[10,20]}}`, flow))
		require.Equal(t, 45, count(run["output"]))

		broken := strings.ReplaceAll(file, `"name":"give"`, `"name":"nothing"`)
		broken = strings.Replace(broken, `"slug":"invoice"`, `"slug":"invoice","start":"nowhere"`, 1)
		var doc map[string]any
		require.NoError(t, json.Unmarshal([]byte(file), &doc))
		doc["flows"].([]any)[0].(map[string]any)["published"].(map[string]any)["document"].(map[string]any)["start"] = "nowhere"
		made = ben.call(t, "POST", "/aiflow/project/import", string(encode(t, doc))).json(201)
		first := made["flows"].([]any)[0].(map[string]any)
		require.Equal(t, false, first["published"])
		require.Equal(t, "/start", first["problems"].([]any)[0].(map[string]any)["path"])
		p := ben.call(t, "POST", "/aiflow/project/import", broken).problem(422, "validation")
		require.True(t, strings.HasPrefix(p.Errors[0].Location, "body.flows[1].draft/start"), p.Errors)
	})
}

// TestProjectFile refuses what is no file of a project, and names the place.
func TestProjectFile(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		const head = `{"format":"trunkline-project/1","name":"P","description":"","flows":[`
		for body, location := range map[string]string{
			`{"format":"trunkline-project/2","name":"P","description":"","flows":[]}`:                               "body.format",
			`{"format":"trunkline-project/1","name":"P","description":""}`:                                          "body.flows",
			`{"format":"trunkline-project/1","name":"P","description":"","flows":[],"x":1}`:                         "body.x",
			head + `{"name":"F","draft":{},"published":null,"id":"1"}]}`:                                            "body.flows[0].id",
			head + `{"name":"F","draft":[],"published":null}]}`:                                                     "body.flows[0].draft",
			head + `{"name":"F","draft":{},"published":{"document":{},"functions":[{},1]}}]}`:                       "body.flows[0].published.functions[1]",
			head + `{"name":"F","draft":{},"published":{"document":{}}}]}`:                                          "body.flows[0].published.functions",
			head + `{"name":" ","draft":{},"published":null},{"name":"F","draft":{"a":1,"a":2},"published":null}]}`: "body.flows[0].name",
		} {
			p := ana.call(t, "POST", "/aiflow/project/import", body).problem(422, "validation")
			require.Equal(t, location, p.Errors[0].Location, body)
		}
		require.Empty(t, ana.call(t, "GET", "/aiflow/project/list", "").json(200)["items"])
	})
}

// TestFlowDiff compares versions, and lists who uses a function.
func TestFlowDiff(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		_, publish := ana.project(t)
		function := publish(fmt.Sprintf(vat, "1.5"))
		flow := publish(invoice)
		path := "/aiflow/flow/" + flow
		ana.call(t, "GET", path+"/diff", "").is(200, `{"from":1,"to":0,"nodes":[],"edges":[],"document":[],"functions":[]}`)
		ana.call(t, "PATCH", "/aiflow/flow/"+function, fmt.Sprintf(`{"draft":%s}`, fmt.Sprintf(vat, "2"))).json(200)
		ana.call(t, "POST", "/aiflow/flow/"+function+"/publish", "").json(200)
		changed := strings.NewReplacer(`"done": "end"`, `"done": "bye"`, `"end": {"type": "end"`, `"bye": {"type": "end"`).Replace(invoice)
		ana.call(t, "PATCH", path, `{"draft":`+changed+`}`).json(200)
		end := `{"config":{"result":"{{ vars.sum }}"},"type":"end"}`
		ana.call(t, "GET", path+"/diff?from=1&to=0", "").is(200, fmt.Sprintf(`{"from":1,"to":0,"nodes":[
			{"id":"bye","type":"end","kind":"added","changes":[{"path":"/nodes/bye","kind":"added","from":null,"to":%[1]s}]},
			{"id":"end","type":"end","kind":"removed","changes":[{"path":"/nodes/end","kind":"removed","from":%[1]s,"to":null}]}],
			"edges":[{"node":"each","output":"done","from":"end","to":"bye"}],"document":[],"functions":[{"slug":"vat","from":1,"to":2}]}`, end))
		require.Equal(t, "query.to", ana.call(t, "GET", path+"/diff?from=1&to=9", "").problem(422, "validation").Errors[0].Location)
		ana.call(t, "GET", "/aiflow/flow/"+function+"/usedby", "").
			is(200, fmt.Sprintf(`{"items":[{"flowId":%q,"name":"F","published":1,"draft":true}],"next":null}`, flow))
		ref := ana.sandbox(t)
		ana.call(t, "PUT", "/aiflow/flow/"+function+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, ref)).problem(409, "conflict")
	})
}
