package aiflow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
)

// lines are what a diff says, one change a line.
func lines(d aiflow.Diff) []string {
	out := []string{}
	value := func(v json.RawMessage) string {
		if v == nil {
			return "-"
		}
		return string(v)
	}
	for _, n := range d.Nodes {
		out = append(out, fmt.Sprint("node ", n.Kind, " ", n.Type, " ", n.ID))
		for _, c := range n.Changes {
			out = append(out, fmt.Sprint("  ", c.Kind, " ", c.Path, " ", value(c.From), " ", value(c.To)))
		}
	}
	for _, e := range d.Edges {
		out = append(out, fmt.Sprintf("edge %s.%s %q %q", e.Node, e.Output, e.From, e.To))
	}
	for _, c := range d.Rest {
		out = append(out, fmt.Sprint(c.Kind, " ", c.Path, " ", value(c.From), " ", value(c.To)))
	}
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, f := range d.Functions {
		out = append(out, fmt.Sprint("function ", f.Slug, " ", number(f.From), " ", number(f.To)))
	}
	return out
}

func (f *fixture) diff(t *testing.T, id string, from, to int64) []string {
	t.Helper()
	d, err := f.Versions().Diff(t.Context(), id, from, to)
	require.NoError(t, err)
	return lines(d)
}

// TestDiff tells what changed of nodes, edges, the rest and functions, and not
// what means the same.
func TestDiff(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		double := f.published(t, project, function("double", "args.n * 2"))
		main := f.flow(t, project, using("main", "double"))
		require.Equal(t, "node added call call", f.diff(t, main.ID, 0, 0)[2], "nothing is published")
		main = f.publish(t, main.ID)
		require.Empty(t, f.diff(t, main.ID, 0, 0))

		f.change(t, double.ID, function("double", "args.n * 3"))
		require.Equal(t, []string{"function double 1 2"}, f.diff(t, main.ID, 0, 0))

		draft := `{"start":"begin", "slug":"main","name":"G","kind":"flow","format":"trunkline-flow/1","ui":{"x":1},
			"settings":{"timezone":"Europe/Berlin"},"variables":{"got":{"type":"object"},"a/b~c":{"type":"number","default":1.0}},
			"nodes":{
				"begin":{"type":"trigger","config":{"on":[{"kind":"api"},{"kind":"any_message"}]},"next":{"out":"say"}},
				"say":{"type":"message","config":{"text":"Hi"},"next":{"out":"end"}},
				"end":{"config":{"result":"{{ input.n }}"},"type":"end"}}}`
		_, err := f.Flows().Update(t.Context(), main.ID, aiflow.FlowChange{Draft: []byte(draft)})
		require.NoError(t, err)
		want := []string{
			`node changed trigger begin`,
			`  changed /nodes/begin/config/on [{"kind":"api"}] [{"kind":"api"},{"kind":"any_message"}]`,
			`node removed call call`,
			`  removed /nodes/call {"config":{"args":{"n":"{{ input.n }}"},"function":"double","saveTo":"got"},"next":{"out":"end"},"type":"call"} -`,
			`node changed end end`,
			`  changed /nodes/end/config/result "{{ vars.got.n }}" "{{ input.n }}"`,
			`node added message say`,
			`  added /nodes/say - {"config":{"text":"Hi"},"next":{"out":"end"},"type":"message"}`,
			`edge begin.out "call" "say"`,
			`edge call.out "end" ""`,
			`edge say.out "" "end"`,
			`changed /name "F" "G"`,
			`added /settings - {"timezone":"Europe/Berlin"}`,
			`added /variables/a~1b~0c - {"default":1,"type":"number"}`,
		}
		// what a variable may be called is for publishing to say
		require.Equal(t, want, f.diff(t, main.ID, 0, 0))
		require.Equal(t, want, f.diff(t, main.ID, 1, 0))
		require.Empty(t, f.diff(t, main.ID, 1, 1))

		_, err = f.Flows().Update(t.Context(), main.ID, aiflow.FlowChange{Draft: []byte(`{"nodes":[1],"b":{"c":null}}`)})
		require.NoError(t, err)
		require.Contains(t, f.diff(t, main.ID, 1, 0), `added /nodes - [1]`)
		for _, version := range []int64{-1, 2} {
			_, err = f.Versions().Diff(t.Context(), main.ID, version, 0)
			var bad *aiflow.Invalid
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "from", bad.Field)
			_, err = f.Versions().Diff(t.Context(), main.ID, 1, version)
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "to", bad.Field)
		}
	})
}

// TestRandomDiffs turn the one document into the other, whatever both hold.
func TestRandomDiffs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		r := rand.New(rand.NewPCG(7, 7))
		project := f.project(t, "Shop")
		for range 40 {
			from, to := randomDocument(r), randomDocument(r)
			made := f.published(t, project, asJSON(t, valid(from)))
			_, err := f.Flows().Update(t.Context(), made.ID, aiflow.FlowChange{Draft: []byte(asJSON(t, to))})
			require.NoError(t, err)
			d, err := f.Versions().Diff(t.Context(), made.ID, 0, 0)
			require.NoError(t, err)
			got := valid(from)
			patch(t, got, d)
			require.Equal(t, tidy(to), tidy(got))
			require.NoError(t, f.Flows().Delete(t.Context(), made.ID))
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// valid is a flow that can be published, with what another has of name and
// variables.
func valid(document map[string]any) map[string]any {
	var out map[string]any
	_ = json.Unmarshal([]byte(plain("any")), &out)
	if name, is := document["name"].(string); is {
		out["name"] = name
	}
	out["variables"] = document["variables"]
	return out
}

// randomDocument is a document of random members, nodes and edges.
func randomDocument(r *rand.Rand) map[string]any {
	names := []string{"begin", "a", "b/c", "d~e", "", "next", "type"}
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(8); {
		case n < 2 && depth > 0:
			out := map[string]any{}
			for range r.IntN(3) {
				out[names[r.IntN(len(names))]] = value(depth - 1)
			}
			return out
		case n < 4 && depth > 0:
			return []any{value(depth - 1), value(depth - 1)}[:r.IntN(3)]
		case n == 4:
			return nil
		case n == 5:
			return r.IntN(3) == 0
		case n == 6:
			return "text " + strconv.Itoa(r.IntN(3))
		}
		return float64(r.IntN(4))
	}
	nodes := map[string]any{}
	for range r.IntN(5) {
		node, is := value(3).(map[string]any)
		if !is {
			node = map[string]any{"type": "trigger", "config": value(2)}
		}
		node["next"] = map[string]any{"out": names[r.IntN(len(names))]}
		nodes[names[r.IntN(len(names))]] = node
	}
	variables := map[string]any{"v": map[string]any{"type": "any", "default": value(4)}}
	out := map[string]any{"format": "trunkline-flow/1", "name": "N" + strconv.Itoa(r.IntN(3)), "nodes": nodes, "variables": variables}
	out[names[r.IntN(len(names))]] = value(3)
	return out
}

// patch makes the changes of a diff.
func patch(t *testing.T, document map[string]any, d aiflow.Diff) {
	t.Helper()
	changes := d.Rest
	for _, n := range d.Nodes {
		changes = append(changes, n.Changes...)
	}
	for _, c := range changes {
		set(t, document, c.Path, c.To)
	}
	nodes, _ := document["nodes"].(map[string]any)
	for _, e := range d.Edges {
		node, is := nodes[e.Node].(map[string]any)
		if !is {
			continue // it went
		}
		next, is := node["next"].(map[string]any)
		if !is {
			next = map[string]any{}
			node["next"] = next
		}
		if delete(next, e.Output); e.To != "" {
			next[e.Output] = e.To
		}
	}
}

// set puts a value at a pointer, or with nil removes what is there.
func set(t *testing.T, document any, path string, to json.RawMessage) {
	t.Helper()
	parts := strings.Split(path, "/")[1:]
	for i, part := range parts {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		last := i == len(parts)-1
		var v any
		if to != nil {
			require.NoError(t, json.Unmarshal(to, &v))
		}
		switch at := document.(type) {
		case map[string]any:
			switch {
			case last && to == nil:
				delete(at, part)
			case last:
				at[part] = v
			default:
				document = at[part]
			}
		case []any:
			n, err := strconv.Atoi(part)
			require.NoError(t, err)
			if last {
				at[n] = v
			} else {
				document = at[n]
			}
		default:
			require.Fail(t, "there is nothing", path)
		}
	}
}

// tidy is a document without lists of edges that are empty.
func tidy(document map[string]any) map[string]any {
	nodes, _ := document["nodes"].(map[string]any)
	for _, n := range nodes {
		node, _ := n.(map[string]any)
		if next, is := node["next"].(map[string]any); is && len(next) == 0 {
			delete(node, "next")
		}
	}
	return document
}

// TestUsedBy lists what would notice that a function changes or goes.
func TestUsedBy(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Shop")
		inner := f.published(t, project, function("inner", "args.n"))
		outer := f.published(t, project, caller("outer", "inner"))
		main := f.published(t, project, using("main", "outer"))
		f.flow(t, project, plain("plain"))
		agent := f.flow(t, project, `{"nodes":{"x":{"type":"agent","config":{"functions":[1,"other","inner"]}},"y":{"type":"call"},"z":3}}`)
		f.published(t, f.project(t, "Other"), function("inner", "args.n"))
		f.change(t, inner.ID, caller("inner", "inner"))

		one := int64(1)
		uses, err := f.Flows().UsedBy(t.Context(), inner.ID, aiflow.List{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, []aiflow.Use{
			{Flow: outer.ID, Name: outer.Name, Published: &one, Draft: true},
			{Flow: main.ID, Name: main.Name, Published: &one},
		}, uses.Items)
		uses, err = f.Flows().UsedBy(t.Context(), inner.ID, aiflow.List{Limit: 2, Cursor: uses.Next})
		require.NoError(t, err)
		require.Equal(t, []aiflow.Use{{Flow: agent.ID, Name: agent.Name, Draft: true}}, uses.Items)
		require.Empty(t, uses.Next)

		uses, err = f.Flows().UsedBy(t.Context(), main.ID, aiflow.List{})
		require.NoError(t, err)
		require.Empty(t, uses.Items, "a flow")
		other := f.flow(t, project, function("other", "args.n"))
		uses, err = f.Flows().UsedBy(t.Context(), other.ID, aiflow.List{})
		require.NoError(t, err)
		require.Len(t, uses.Items, 1, "it is not published yet")
		require.Equal(t, agent.ID, uses.Items[0].Flow)
		for range 45 {
			f.flow(t, project, using("many", "other"))
		}
		uses, err = f.Flows().UsedBy(t.Context(), other.ID, aiflow.List{Limit: 45})
		require.NoError(t, err)
		require.Len(t, uses.Items, 45)
		uses, err = f.Flows().UsedBy(t.Context(), other.ID, aiflow.List{Cursor: uses.Next})
		require.NoError(t, err)
		require.Len(t, uses.Items, 1)
	})
}
