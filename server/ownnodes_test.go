package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// withStock is a configuration with a node type of a program's own.
func withStock(c *server.Config) {
	type ask struct {
		Item string `json:"item" required:"true" max:"40" doc:"What is asked for."`
		Key  string `json:"key" pattern:"credential" doc:"Credential of the store."`
	}
	c.WebhookAllow = []string{"127.0.0.1"}
	c.Nodes = append(c.Nodes, flow.NodeType{
		Name: "x.stock", Group: "shop", Text: "Looks up how many there are.", Repeat: true,
		Outputs: []flow.Output{{Name: "out", Text: "there are some"}, {Name: "none", Text: "there are none"}},
		Run: flow.NodeFunc(func(ctx context.Context, c flow.NodeCall, in ask) (flow.NodeResult, error) {
			left := map[string]int{"cups": 3}[in.Item]
			if left == 0 {
				return flow.NodeResult{Output: "none"}, nil
			}
			secret := "no secret"
			if in.Key != "" {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/stock", nil)
				if err != nil {
					return flow.NodeResult{}, err
				}
				if err := c.Authorize(ctx, in.Key, r); err != nil {
					return flow.NodeResult{}, err
				}
				secret = r.Header.Get("Authorization")
			}
			return flow.NodeResult{Value: map[string]any{"left": left, "long": len(secret)}}, nil
		}),
	})
}

const stocked = `{
	"format": "trunkline-flow/1", "kind": "flow", "slug": "stock", "name": "Stock", "start": "begin", "variables": {"found": {"type": "object"}},
	"nodes": {
		"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "look"}},
		"look": {"type": "x.stock", "config": {"item": "{{ input.text }}", "saveTo": "found"}, "next": {"out": "some", "none": "none"}},
		"some": {"type": "message", "config": {"text": "We have {{ vars.found.left }}."}},
		"none": {"type": "message", "config": {"text": "Sold out."}}
	}
}`

// TestOwnNodes has bots and flows use a node type of the program's own: it is in
// the palette, checked, simulated, run, and shown in the steps of the run.
func TestOwnNodes(t *testing.T) {
	t.Parallel()
	onDatabases(t, withStock, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		shown := map[string]any{}
		for _, n := range ana.call(t, "GET", "/aiflow/palette", "").json(200)["nodes"].([]any) {
			if n := n.(map[string]any); n["type"] == "x.stock" {
				shown = n
			}
		}
		require.Equal(t, "shop", shown["group"])
		require.Equal(t, []any{"botengine", "aiflow"}, shown["engines"])
		require.Equal(t, "template", shown["config"].(map[string]any)["properties"].(map[string]any)["item"].(map[string]any)["x-kind"])

		credential := ana.call(t, "POST", "/aiflow/credential", `{"name":"Store","kind":"bearer","secret":"hush","hosts":["127.0.0.1"]}`).json(201)["id"].(string)
		withKey := strings.Replace(stocked, `"item":`, fmt.Sprintf(`"key":%q,"item":`, credential), 1)
		ref := ana.sandbox(t)
		id := ana.boundFlow(t, ref, withKey, "null")
		ana.write(t, ref, "bob", "cups")
		ana.awaitShown(t, ref, "bob", "out: cups", "in: We have 3.")
		ana.write(t, ref, "bob", "jugs")
		ana.awaitShown(t, ref, "bob", "out: cups", "in: We have 3.", "out: jugs", "in: Sold out.")
		runs := ana.call(t, "GET", "/aiflow/run?flowId="+id, "").json(200)["items"].([]any)
		d := ana.call(t, "GET", "/aiflow/run/"+runs[1].(map[string]any)["id"].(string), "").json(200)
		step := d["steps"].([]any)[1].(map[string]any)
		require.Equal(t, "x.stock", step["type"])
		require.Equal(t, "out", step["output"])
		require.Equal(t, map[string]any{"item": "cups", "key": credential}, step["in"])
		require.Equal(t, map[string]any{"value": map[string]any{"left": 3.0, "long": 11.0}}, step["out"])
		require.NotContains(t, f.log.String(), "hush")

		project := ana.call(t, "GET", "/aiflow/flow/"+id, "").json(200)["projectId"]
		draft := fmt.Sprintf(`{"projectId":%q,"name":"Other","draft":%s}`, project, strings.Replace(withKey, credential, "yours", 1))
		p := ana.call(t, "POST", "/aiflow/flow", draft).json(201)["problems"].([]any)
		require.Equal(t, "unknown.credential", p[0].(map[string]any)["code"])
		require.Equal(t, "/nodes/look/config/key", p[0].(map[string]any)["path"])

		said := ana.call(t, "POST", "/aiflow/flow/"+id+"/simulate", `{"input":"hats","given":{"mocks":[{"kind":"node","result":{"value":{"left":9}}}]}}`).json(200)
		require.Equal(t, "We have 9.", said["messages"].([]any)[0].(map[string]any)["message"].(map[string]any)["text"])

		other := ana.sandbox(t)
		ana.bot(t, other, stocked)
		ana.write(t, other, "bob", "cups")
		ana.awaitShown(t, other, "bob", "out: cups", "in: We have 3.")
	})
}

// TestOwnNodesAreGone starts a program without the node type: nothing with it is
// published any more, and runs of what was fail at the node.
func TestOwnNodesAreGone(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		before := setupOn(t, db, withStock).as(t, "ana")
		ref := before.sandbox(t)
		other := before.sandbox(t)
		ids := map[string]string{"/bot/": before.bot(t, other, stocked), "/aiflow/flow/": before.boundFlow(t, ref, stocked, "null")}

		ana := client{working(t, setupOn(t, db, nil)), before.token}
		for path, id := range ids {
			p := ana.call(t, "POST", path+id+"/publish", "").problem(422, "validation")
			require.Equal(t, "unknown.type", p.Errors[0].Code)
			require.Contains(t, p.Errors[0].Location, "/nodes/look/type")
			require.Contains(t, p.Errors[0].Message, "this program has no node type x.stock")
		}
		for to, runs := range map[int]string{ref: "/aiflow/run?flowId=" + ids["/aiflow/flow/"], other: "/bot/" + ids["/bot/"] + "/runs"} {
			ana.write(t, to, "bob", "cups")
			var run map[string]any
			ana.until(t, func() bool {
				items := ana.call(t, "GET", runs, "").json(200)["items"].([]any)
				if len(items) == 0 {
					return false
				}
				require.Len(t, items, 1)
				run = items[0].(map[string]any)
				return run["status"] == "failed"
			})
			require.Equal(t, map[string]any{"code": "unknown.type", "message": "This program has no node type x.stock.", "node": "look"}, run["error"])
		}
	})
}

// TestOwnNodesRefused refuses a program whose node types cannot be.
func TestOwnNodesRefused(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	_, err := server.New(t.Context(), server.Config{DB: db, Secrets: []server.Secret{secret}, Nodes: []flow.NodeType{{Name: "stock"}}})
	require.ErrorContains(t, err, `Config.Nodes: flow: "stock" is not a name of a custom node type`)
}
