package flow_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// nodes returns a flow of the given nodes, which starts with node A.
func nodes(t testing.TB, list map[string]any, more ...map[string]any) *flow.Program {
	t.Helper()
	list["T"] = map[string]any{"type": "trigger", "config": map[string]any{"on": []any{map[string]any{"kind": "manual"}}}, "next": map[string]any{"out": "A"}}
	d := map[string]any{"format": flow.Format, "kind": "flow", "engine": "aiflow", "slug": "test", "name": "test", "start": "T", "nodes": list}
	for _, m := range more {
		for name, v := range m {
			d[name] = v
		}
	}
	return conversation{Document: json.RawMessage(marshal(t, d))}.compile(t)
}

func nodeOf(kind string, config map[string]any, next ...string) map[string]any {
	to := map[string]any{}
	for i := 0; i < len(next); i += 2 {
		to[next[i]] = next[i+1]
	}
	return map[string]any{"type": kind, "config": config, "next": to}
}

// until takes turns until the run waits or has ended, and returns the last turn and
// the number of turns.
func until(t testing.TB, p *flow.Program, s *flow.State, in flow.Input, w flow.World) (*flow.Turn, int) {
	t.Helper()
	turn, err := p.Step(s, in, w)
	require.NoError(t, err)
	n := 1
	for ; turn.More; n++ {
		turn, err = p.Step(turn.State, flow.Continue{}, w)
		require.NoError(t, err)
	}
	return turn, n
}

func count() map[string]any {
	return map[string]any{"assign": []any{map[string]any{"var": "n", "op": "increment"}}}
}

var counting = map[string]any{"variables": map[string]any{"n": map[string]any{"type": "integer"}}}

func TestTurnHasItsShare(t *testing.T) {
	t.Parallel()
	t.Run("steps", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("set", count(), "out", "B"), "B": nodeOf("condition", map[string]any{"branches": []any{map[string]any{"id": "again", "when": "vars.n < 300"}}}, "again", "A")}, counting)
		turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(t, err)
		require.True(t, turn.More)
		require.Len(t, turn.Trace, 250)
		turn, n := until(t, p, turn.State, flow.Continue{}, goldenWorld(nil))
		require.Equal(t, 2, n)
		require.Equal(t, flow.StatusCompleted, turn.State.Ended.Status)
		require.Equal(t, 601, turn.Trace[len(turn.Trace)-1].Seq)
	})
	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("loop", map[string]any{"kind": "count", "times": "45"}, "body", "B"), "B": nodeOf("message", map[string]any{"text": "{{ index }}"})})
		turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(t, err)
		require.True(t, turn.More)
		require.Len(t, turn.Effects, 20)
		_, n := until(t, p, turn.State, flow.Continue{}, goldenWorld(nil))
		require.Equal(t, 2, n)
	})
	t.Run("work", func(t *testing.T) {
		t.Parallel()
		big := make([]any, 1000)
		for i := range big {
			big[i] = strings.Repeat("x", 200)
		}
		p := nodes(t, map[string]any{"A": nodeOf("loop", map[string]any{"kind": "count", "times": "200", "max": 200}, "body", "B", "done", "E"), "B": nodeOf("set", map[string]any{"assign": []any{map[string]any{"var": "big[0]", "value": "{{ index }}"}}}), "E": nodeOf("end", map[string]any{"result": "{{ vars.big[0] }}"})},
			map[string]any{"variables": map[string]any{"big": map[string]any{"type": "list", "default": big}}})
		turn, n := until(t, p, nil, flow.Begin{}, goldenWorld(nil))
		require.Greater(t, n, 2, "400 steps would be two turns")
		require.Equal(t, 199, turn.State.Ended.Output)
	})
	t.Run("expressions", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("loop", map[string]any{"kind": "count", "times": "120", "max": 200}, "body", "B", "done", "E"), "B": nodeOf("set", map[string]any{"assign": slow(20)}), "E": nodeOf("end", map[string]any{"result": "{{ vars.n }}"})},
			map[string]any{"variables": map[string]any{"n": map[string]any{"type": "integer"}, "list": map[string]any{"type": "list", "default": make([]any, 1000)}}})
		turn, n := until(t, p, nil, flow.Begin{}, goldenWorld(nil))
		require.Greater(t, n, 1, "240 steps would be one turn")
		require.Equal(t, 1000, turn.State.Ended.Output)
	})
	t.Run("effects", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("loop", map[string]any{"kind": "count", "times": "90"}, "body", "B"), "B": nodeOf("event", map[string]any{"name": "x"})})
		turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(t, err)
		require.True(t, turn.More)
		require.LessOrEqual(t, len(turn.Effects), 50)
	})
}

// slow returns assignments that take some thousand steps each.
func slow(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"var": "n", "value": "{{ len(filter(vars.list, # == nil)) }}"}
	}
	return out
}

func TestRunThatGoesInCirclesFails(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T, turn *flow.Turn, code, path string) {
		require.NotNil(t, turn.State.Ended)
		require.Equal(t, flow.StatusFailed, turn.State.Ended.Status)
		require.Equal(t, code, turn.State.Ended.Error.Code)
		require.Contains(t, turn.State.Ended.Error.Message, path)
		require.Contains(t, []string{"A", "B"}, turn.State.Ended.Error.Node, "the node at which the run stood")
	}
	t.Run("steps", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("set", count(), "out", "B", "error", "A"), "B": nodeOf("goto", map[string]any{"node": "A"})}, counting)
		turn, n := until(t, p, nil, flow.Begin{}, goldenWorld(nil))
		ended(t, turn, "run.steps", "A → B → A")
		require.Equal(t, 400, n-1)
	})
	t.Run("turns", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"for": "PT1H"}, "out", "B"), "B": nodeOf("goto", map[string]any{"node": "A"})})
		w := goldenWorld(nil)
		turn, err := p.Step(nil, flow.Begin{}, w)
		for n := 1; err == nil && turn.State.Ended == nil; n++ {
			require.Less(t, n, 1002)
			w.Now = w.Now.Add(time.Hour)
			turn, err = p.Step(turn.State, flow.Timer{ID: turn.State.Wait.Timer}, w)
		}
		require.NoError(t, err)
		ended(t, turn, "run.turns", "A → B → A")
	})
	t.Run("life", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"for": "P90D"}, "out", "A")})
		w := goldenWorld(nil)
		turn, err := p.Step(nil, flow.Begin{}, w)
		require.NoError(t, err)
		w.Now = w.Now.Add(101 * 24 * time.Hour)
		turn, err = p.Step(turn.State, flow.Timer{ID: turn.State.Wait.Timer}, w)
		require.NoError(t, err)
		ended(t, turn, "run.life", "100 days")
	})
	t.Run("the same message in later turns", func(t *testing.T) {
		t.Parallel()
		p := nodes(t, map[string]any{"A": nodeOf("message", map[string]any{"text": "hi"}, "out", "B"), "B": nodeOf("delay", map[string]any{"for": "PT20S"}, "out", "A")})
		w := goldenWorld(nil)
		turn, err := p.Step(nil, flow.Begin{}, w)
		require.NoError(t, err)
		for range 100 {
			w.Now = w.Now.Add(20 * time.Second) // 15 in five minutes
			turn, err = p.Step(turn.State, flow.Timer{ID: turn.State.Wait.Timer}, w)
			require.NoError(t, err)
			require.Nil(t, turn.State.Ended)
		}
	})
}

func TestValuesHaveLimits(t *testing.T) {
	t.Parallel()
	set := func(assign ...any) map[string]any {
		return nodeOf("set", map[string]any{"assign": assign}, "error", "E")
	}
	put := func(name, op string, v any) map[string]any {
		return map[string]any{"var": name, "op": op, "value": v}
	}
	end := nodeOf("end", map[string]any{"result": "{{ error.code }}: {{ error.message }}"})
	items := make([]any, 1000)
	long := strings.Repeat("x", 60_000)
	for _, test := range []struct {
		name   string
		assign []any
		want   string
	}{
		{"items", []any{put("a", "set", items), put("a", "append", 1)}, "value.too_large: a: a list has at most 1,000 items"},
		{"all together", []any{put("a", "set", long), put("b", "set", long), put("c", "set", long), put("d", "set", long), put("e", "set", long)}, "value.too_large: all variables together have at most 256 KiB"},
		{"grown bit by bit", []any{put("a", "set", long), put("b", "set", "{{ [vars.a, vars.a, vars.a, vars.a, vars.a] }}")}, "value.too_large: all variables together have at most 256 KiB"},
		{"no list", []any{put("a", "set", 1), put("a", "append", 1)}, "value.type: a: append needs a list"},
		{"no number", []any{put("a", "set", "x"), put("a", "increment", 1)}, "value.type: a: increment needs numbers"},
		{"sum", []any{put("a", "set", 9223372036854775807), put("a", "increment", 1)}, "value.type: a: the sum is too large"},
		{"no object", []any{put("a", "merge", 1)}, "value.type: a: merge needs an object as its value"},
		{"into no object", []any{put("a", "set", 1), put("a", "merge", map[string]any{})}, "value.type: a: merge needs a variable with an object"},
		{"member of a number", []any{put("a", "set", 1), put("a.b", "set", 1)}, "value.type: a.b: b is not found: its value is not an object"},
		{"item of a number", []any{put("a", "set", 1), put("a[0]", "set", 1)}, "value.type: a[0]: [0] is not found: its value is not a list"},
		{"item beyond the end", []any{put("a", "set", []any{}), put("a[1]", "set", 1)}, "value.type: a[1]: the list has no item 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := nodes(t, map[string]any{"A": set(test.assign...), "E": end})
			turn, _ := until(t, p, nil, flow.Begin{}, goldenWorld(nil))
			require.Equal(t, test.want, turn.State.Ended.Output)
		})
	}
}

// Input from outside never stops a run by its size.
func TestLongMessageIsShortened(t *testing.T) {
	t.Parallel()
	p := nodes(t, map[string]any{"A": nodeOf("question", map[string]any{"saveTo": "a"})})
	turn, _ := until(t, p, nil, flow.Begin{}, goldenWorld(nil))
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	turn, err := p.Step(turn.State, flow.Reply{Message: map[string]any{"text": strings.Repeat("ä", 50_000), "deep": deep, "list": make([]any, 5000)}}, goldenWorld(nil))
	require.NoError(t, err)
	require.NotNil(t, turn.State.Ended)
	require.LessOrEqual(t, len(turn.State.Frames[0].Vars["a"].(string)), 64<<10)
	require.Less(t, len(marshal(t, turn.Trace)), 8<<10, "traces are short")
}
