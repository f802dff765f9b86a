package flow_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// hostile are documents of the maximum size, or larger, that are expensive to
// compile.
func hostile() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	long := func(i int) string { return fmt.Sprintf("n%s%04d", strings.Repeat("a", 58), i) }
	docs := map[string][]string{}
	for i := range 999 {
		next := []string{fmt.Sprintf(`"done": "n%d"`, r.IntN(999)), fmt.Sprintf(`"limit": "n%d"`, r.IntN(999)), fmt.Sprintf(`"error": "n%d"`, r.IntN(999))}
		docs["loops"] = append(docs["loops"], fmt.Sprintf(
			`"n%d": {"type": "loop", "config": {"kind": "count", "times": "i%d", "item": "i%d", "index": "x%d"}, "next": {"body": "n%d", %s}}`,
			i, r.IntN(999), i, i, (i+1)%999, strings.Join(next, ", ")))
		var branches, ways []string
		for k := range 20 {
			branches = append(branches, fmt.Sprintf(`{"id": "b%d", "when": "index == %d"}`, k, k))
			ways = append(ways, fmt.Sprintf(`"b%d": "n%d"`, k, r.IntN(999)))
		}
		if i%2 == 0 {
			docs["dense"] = append(docs["dense"], fmt.Sprintf(`"n%d": {"type": "loop", "config": {"kind": "count", "times": "3"}, "next": {"body": "n%d", "done": "n%d"}}`, i, (i+1)%999, r.IntN(999)))
		} else {
			docs["dense"] = append(docs["dense"], fmt.Sprintf(`"n%d": {"type": "condition", "config": {"branches": [%s]}, "next": {%s}}`, i, strings.Join(branches[:10], ", "), strings.Join(ways[:10], ", ")))
		}
		var wrong, writes []string
		for k := range 10 {
			wrong = append(wrong, fmt.Sprintf(`"o%d": "%s"`, k, "b"+long(r.IntN(9999))[1:]))
			writes = append(writes, fmt.Sprintf(`{"var": "v%s%d_%d", "value": "{{ vars.%s }}"}`, strings.Repeat("a", 40), i, k, long(k)))
		}
		docs["targets"] = append(docs["targets"], fmt.Sprintf(`"%s": {"type": "message", "config": {"text": "x"}, "next": {%s}}`, long(i), strings.Join(wrong, ", ")))
		docs["variables"] = append(docs["variables"], fmt.Sprintf(`"n%d": {"type": "set", "config": {"assign": [%s]}, "next": {"out": "n%d"}}`, i, strings.Join(writes[:6], ", "), i+1))
	}
	out := map[string][]byte{}
	for name, nodes := range docs {
		start := "n0"
		if name == "targets" {
			start = long(0)
		}
		out[name] = []byte(document(`"t": {"type": "trigger", "next": {"out": "` + start + `"}}, ` + strings.Join(nodes, ", ")))
	}
	out["duplicates"] = []byte(`{"nodes": {` + strings.Repeat(`"a":1,`, 300_000) + `"a":1}}`)
	out["unknown"] = []byte(`{` + strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,`, 30_000) + `"a":1}`)
	out["deep"] = []byte(strings.Repeat(`{"nodes":`, 9000) + `1` + strings.Repeat(`}`, 9000))
	out["wide"] = []byte(document(`"t": {"type": "note", "config": {"text": [` + strings.Repeat("[],", 500_000) + `[]]}}`))
	return out
}

// Hostile documents are refused, with a bounded number of problems.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	for name, raw := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, problems := flow.Decode(raw)
			if d != nil {
				var p *flow.Program
				p, problems = node.NewTypes().Compile(d, nil)
				require.Nil(t, p)
			}
			require.True(t, flow.Failed(problems))
			require.LessOrEqual(t, len(problems), 1200)
			for _, p := range problems {
				require.Less(t, len(p.Message)+len(p.Hint), 20_000)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, raw := range hostile() {
		b.Run(name, func(b *testing.B) {
			defer cpu(b)()
			for b.Loop() {
				if d, _ := flow.Decode(raw); d != nil {
					node.NewTypes().Compile(d, nil)
				}
			}
		})
	}
}
