package flow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// shared compiles a flow of the fixtures.
func sharedProgram(b *testing.B, name string) *flow.Program {
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(b), "spec", "flows", name))
	require.NoError(b, err)
	return conversation{Document: raw}.compile(b)
}

// stored is a run whose state is encoded and decoded at each turn.
type storedRun struct {
	program *flow.Program
	world   flow.World
	state   []byte
	last    *flow.Turn
}

func (r *storedRun) take(b *testing.B, in flow.Input) {
	var s *flow.State
	if r.state != nil {
		s = &flow.State{}
		if err := json.Unmarshal(r.state, s); err != nil {
			b.Fatal(err)
		}
	}
	turn, err := r.program.Step(s, in, r.world)
	if err != nil {
		b.Fatal(err)
	}
	if r.state, err = json.Marshal(turn.State); err != nil {
		b.Fatal(err)
	}
	r.last = turn
}

func message(text string) map[string]any {
	return map[string]any{"id": "wamid.HBgNNDkxNTEyMzQ1Njc4", "type": "text", "text": text}
}

// BenchmarkRegistration is a conversation of four turns: the start and three
// answers.
func BenchmarkRegistration(b *testing.B) {
	p := sharedProgram(b, "bench-registration.json")
	w := goldenWorld(nil)
	b.ReportAllocs()
	before := testkit.OwnCPUTime(b)
	turns := 0
	for b.Loop() {
		r := storedRun{program: p, world: w}
		r.take(b, flow.Begin{Input: message("hi")})
		for _, answer := range []string{"ada lovelace", "36", "blue"} {
			r.take(b, flow.Reply{Message: message(answer)})
		}
		if r.last.State.Ended == nil {
			b.Fatal("the run did not end")
		}
		turns += 4
	}
	perSecond(b, turns, testkit.OwnCPUTime(b)-before, "turns/cpu-s")
}

// BenchmarkLoop counts to 40 in one turn: 83 steps.
func BenchmarkLoop(b *testing.B) {
	p := sharedProgram(b, "bench-loop.json")
	w := goldenWorld(nil)
	b.ReportAllocs()
	before := testkit.OwnCPUTime(b)
	steps := 0
	for b.Loop() {
		r := storedRun{program: p, world: w}
		r.take(b, flow.Begin{Input: message("hi")})
		if r.last.State.Ended == nil {
			b.Fatal("the run did not end")
		}
		steps += len(r.last.Trace)
	}
	perSecond(b, steps, testkit.OwnCPUTime(b)-before, "steps/cpu-s")
}

func perSecond(b *testing.B, n int, cpu time.Duration, unit string) {
	if cpu > 0 {
		b.ReportMetric(float64(n)/cpu.Seconds(), unit)
	}
}

// BenchmarkRounds goes round a loop node 80 times, in one turn of 162 steps.
func BenchmarkRounds(b *testing.B) {
	p := nodes(b, map[string]any{
		"A": nodeOf("loop", map[string]any{"kind": "each", "items": "vars.in", "collect": map[string]any{"var": "out", "value": "item"}}, "body", "B"),
		"B": nodeOf("condition", map[string]any{"branches": []any{map[string]any{"id": "odd", "when": "item != nil"}}}, "odd", "C"),
		"C": nodeOf("continue", map[string]any{}),
	}, map[string]any{"variables": map[string]any{"in": map[string]any{"type": "list", "default": make([]any, 80)}, "out": map[string]any{"type": "list"}}})
	w := goldenWorld(nil)
	b.ReportAllocs()
	before := testkit.OwnCPUTime(b)
	steps := 0
	for b.Loop() {
		r := storedRun{program: p, world: w}
		r.take(b, flow.Begin{Input: message("hi")})
		if r.last.State.Ended == nil || r.last.State.Ended.Status != flow.StatusCompleted {
			b.Fatal("the run did not end")
		}
		steps += len(r.last.Trace)
	}
	perSecond(b, steps, testkit.OwnCPUTime(b)-before, "steps/cpu-s")
}
