package flow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// Random documents of valid nodes, most of them broken in some places: nothing
// panics, everything terminates, each problem has an existing position, and
// compiling again yields the same problems.
func TestRandomDocuments(t *testing.T) {
	t.Parallel()
	pool := nodePool(t)
	for part := range uint64(4) {
		t.Run(strconv.FormatUint(part, 10), func(t *testing.T) {
			t.Parallel()
			types, faultless, broken := node.NewTypes(), 0, 0
			for i := range uint64(2500) {
				r := rand.New(rand.NewPCG(part, i))
				raw := randomDocument(t, r, pool)
				p, _ := compile(t, types, raw, nil)
				if p != nil {
					faultless++
				} else {
					broken++
				}
				if d, _ := flow.Decode(raw); d != nil && i%8 == 0 {
					again, problems := flow.Decode(d.Canonical())
					if again != nil { // a draft without a format may be canonical and unreadable
						require.Equal(t, d.Hash(), again.Hash(), "%v", problems)
					}
				}
			}
			require.Positive(t, faultless)
			require.Positive(t, broken)
		})
	}
}

// nodePool returns the nodes of every-node.json.
func nodePool(t testing.TB) []any {
	t.Helper()
	raw, err := os.ReadFile("testdata/every-node.json")
	require.NoError(t, err)
	var d struct{ Nodes map[string]any }
	require.NoError(t, json.Unmarshal(raw, &d))
	var pool []any
	for _, id := range slices.Sorted(maps.Keys(d.Nodes)) {
		pool = append(pool, d.Nodes[id])
	}
	return pool
}

// randomDocument connects some nodes and breaks the document in up to three places.
func randomDocument(t testing.TB, r *rand.Rand, pool []any) []byte {
	t.Helper()
	nodes := map[string]any{"n0": map[string]any{"type": "trigger", "next": map[string]any{"out": "n1"}}}
	n := 2 + r.IntN(7)
	for i := 1; i < n; i++ {
		node := clone(t, pool[r.IntN(len(pool))]).(map[string]any)
		next, _ := node["next"].(map[string]any)
		for output := range next {
			next[output] = fmt.Sprintf("n%d", 1+r.IntN(n-1))
		}
		nodes[fmt.Sprintf("n%d", i)] = node
	}
	d := map[string]any{
		"format": flow.Format, "kind": "flow", "slug": "s", "name": "S", "start": "n0", "nodes": nodes,
		"variables": map[string]any{},
	}
	for _, name := range []string{"name", "age", "cart", "list", "when", "yes", "price", "token", "answer"} {
		d["variables"].(map[string]any)[name] = map[string]any{"type": "any"}
	}
	var broken any = d
	for range r.IntN(4) {
		broken = breakAt(r, broken)
	}
	raw, err := json.Marshal(broken)
	require.NoError(t, err)
	return raw
}

func clone(t testing.TB, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	var out any
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// odd returns a value of another type.
func odd(r *rand.Rand) any {
	values := []any{
		nil, true, -1, 1.5, 1e300, "", "x", "n1", "PT1H", "{{", "{{ vars.x }}", "{{ item }} {{ error.code }}", "vars.age +", "a.b[0]", "\u0000", "\xff",
		[]any{},
		[]any{[]any{1}},
		map[string]any{},
		map[string]any{"type": "loop"},
		map[string]any{"out": "n1", "a/b~": "n0"},
	}
	return values[r.IntN(len(values))]
}

// breakAt replaces, drops, adds or renames something somewhere in v.
func breakAt(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(12) == 0 {
			v[strconv.Itoa(r.IntN(3))] = odd(r)
			return v
		}
		names := slices.Sorted(maps.Keys(v))
		name := names[r.IntN(len(names))]
		switch r.IntN(12) {
		case 0:
			delete(v, name)
		case 1:
			v[name+"x"] = v[name]
			delete(v, name)
		default:
			v[name] = breakAt(r, v[name])
		}
		return v
	case []any:
		if len(v) == 0 || r.IntN(8) == 0 {
			return append(v, odd(r))
		}
		i := r.IntN(len(v))
		v[i] = breakAt(r, v[i])
		return v
	}
	return odd(r)
}

// FuzzDocument compiles any bytes.
func FuzzDocument(f *testing.F) {
	files, err := filepath.Glob("testdata/problems/*.json")
	require.NoError(f, err)
	for _, file := range append(files, "testdata/every-node.json") {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		var c struct{ Document json.RawMessage }
		if json.Unmarshal(raw, &c) == nil && c.Document != nil {
			raw = c.Document
		}
		f.Add(raw)
	}
	f.Add([]byte(function))
	f.Add([]byte(`{"nodes":{"a":{"next":{"a":"a","a":"b"}},"a":[]},"nodes":1}`))
	types := node.NewTypes()
	f.Fuzz(func(t *testing.T, raw []byte) {
		compile(t, types, raw, nil)
	})
}
