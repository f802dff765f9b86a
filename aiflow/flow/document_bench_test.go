package flow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// The flows that Trunkline is measured with compile without any problem.
func TestSharedFlowsCompile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bench-loop.json", "bench-registration.json"} {
		raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "flows", name))
		require.NoError(t, err)
		for _, engine := range []string{flow.EngineBot, ""} {
			p, problems := compile(t, node.NewTypes(), raw, &flow.Environment{Engine: engine})
			require.Empty(t, lines(problems))
			require.NotNil(t, p)
		}
	}
}

// BenchmarkCompile parses and compiles documents: cold, where expressions are
// compiled for the first time; edited, as in an editor; and cached.
func BenchmarkCompile(b *testing.B) {
	every, err := os.ReadFile("testdata/every-node.json")
	require.NoError(b, err)
	documents := map[string][]byte{"every-node": every, "thousand": thousand()}
	if dir := os.Getenv("TRUNKLINE_SHARED"); dir != "" {
		for _, name := range []string{"bench-loop", "bench-registration"} {
			documents[name], err = os.ReadFile(filepath.Join(dir, "spec", "flows", name+".json"))
			require.NoError(b, err)
		}
	}
	for name, raw := range documents {
		b.Run(name+"/cold", func(b *testing.B) {
			defer cpu(b)()
			for b.Loop() {
				compileOnce(b, node.NewTypes(), raw)
			}
		})
		b.Run(name+"/edited", func(b *testing.B) {
			types := node.NewTypes()
			defer cpu(b)()
			n := 0
			for b.Loop() {
				n++
				compileOnce(b, types, []byte(strings.Replace(string(raw), `"name": "`, fmt.Sprintf(`"name": "%d `, n), 1)))
			}
		})
		b.Run(name+"/known", func(b *testing.B) {
			types := node.NewTypes()
			d, _ := flow.Decode(raw)
			defer cpu(b)()
			for b.Loop() {
				types.Compile(d, nil)
			}
		})
	}
}

// cpu reports the processor's time of each round, whatever else the machine
// does.
func cpu(b *testing.B) func() {
	b.ReportAllocs()
	began := testkit.OwnCPUTime(b)
	return func() {
		b.ReportMetric(float64((testkit.OwnCPUTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
	}
}

func compileOnce(b *testing.B, types *flow.Types, raw []byte) {
	d, _ := flow.Decode(raw)
	if _, problems := types.Compile(d, nil); flow.Failed(problems) {
		b.Fatal(lines(problems))
	}
}

// thousand returns a flow of as many nodes as there may be.
func thousand() []byte {
	var nodes []string
	for i := range 999 {
		nodes = append(nodes, fmt.Sprintf(`"n%d": {"type": "message", "config": {"text": "Node %d for {{ contact.name }}"}, "next": {"out": "n%d"}}`, i, i, (i+1)%999))
	}
	return []byte(document(`"t": {"type": "trigger", "next": {"out": "n0"}}, ` + strings.Join(nodes, ", ")))
}
