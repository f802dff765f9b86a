package flow_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// waits are runs with every kind of wait.
func waits(t testing.TB) map[string]*flow.Program {
	return map[string]*flow.Program{
		"reply":   nodes(t, map[string]any{"A": nodeOf("question", map[string]any{"timeout": "PT1H"})}),
		"timer":   nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"for": "PT1H"})}),
		"event":   nodes(t, map[string]any{"A": nodeOf("wait", map[string]any{"event": "paid"})}),
		"handoff": nodes(t, map[string]any{"A": nodeOf("handoff", map[string]any{})}),
		"effect":  nodes(t, map[string]any{"A": nodeOf("http", map[string]any{"url": "https://example.com"})}),
	}
}

// Each wait accepts its own input and refuses all others, which leave the state
// unchanged.
func TestInputsFitTheirWaits(t *testing.T) {
	t.Parallel()
	w := goldenWorld(nil)
	for kind, p := range waits(t) {
		turn, err := p.Step(nil, flow.Begin{}, w)
		require.NoError(t, err)
		s := turn.State
		before := marshal(t, s)
		for _, in := range []struct {
			input flow.Input
			fits  string
		}{
			{flow.Begin{}, ""},
			{flow.Continue{}, ""},
			{flow.Reply{Message: map[string]any{"text": "x"}}, "reply"},
			{flow.Timer{ID: s.Wait.Timer}, "reply timer event handoff"},
			{flow.Timer{ID: "77"}, ""},
			{flow.Timer{}, ""},
			{flow.Event{Name: "paid"}, "event"},
			{flow.Event{Name: "other"}, ""},
			{flow.EffectDone{ID: s.Wait.ID, Result: flow.HTTPResponse{Status: 200}}, "effect"},
			{flow.EffectDone{ID: "77"}, ""},
			{flow.EffectDone{}, ""},
			{flow.Approval{ID: s.Wait.ID, Approved: true}, ""},
			{flow.HandoffClosed{}, "handoff"},
			{flow.Cancel{}, "reply timer event handoff effect"},
			{nil, ""},
		} {
			next, err := p.Step(s, in.input, w)
			require.Equal(t, before, marshal(t, s), "%s %T", kind, in.input)
			if !fits(in.fits, kind) {
				require.ErrorIs(t, err, flow.ErrNotWaiting, "%s %T", kind, in.input)
				continue
			}
			require.NoError(t, err, "%s %T", kind, in.input)
			require.NotNil(t, next.State.Ended, "%s %T", kind, in.input)
			_, err = p.Step(next.State, flow.Cancel{}, w)
			require.ErrorIs(t, err, flow.ErrNotWaiting, "a run that ended takes nothing")
		}
	}
}

func fits(kinds, kind string) bool {
	for k := range strings.FieldsSeq(kinds) {
		if k == kind {
			return true
		}
	}
	return false
}

func TestStateOfAnotherDocument(t *testing.T) {
	t.Parallel()
	all := waits(t)
	w := goldenWorld(nil)
	turn, err := all["reply"].Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	_, err = all["timer"].Step(turn.State, flow.Cancel{}, w)
	require.ErrorIs(t, err, flow.ErrOtherDocument)

	turn.State.Frames = nil
	_, err = all["reply"].Step(turn.State, flow.Cancel{}, w)
	require.ErrorIs(t, err, flow.ErrOtherDocument)
	_, err = all["reply"].Step(nil, flow.Reply{}, w)
	require.ErrorIs(t, err, flow.ErrNotWaiting, "a run begins with Begin")
}

func TestBeginChecksItsValues(t *testing.T) {
	t.Parallel()
	p := nodes(t, map[string]any{"A": nodeOf("end", map[string]any{"result": "{{ vars.n }}"})}, counting)
	for _, test := range []struct {
		begin flow.Begin
		want  string
	}{
		{flow.Begin{Vars: map[string]any{"n": "many"}}, "flow: vars.n: value.type: must be of type integer"},
		{flow.Begin{Args: map[string]any{"x": 1}}, "flow: value.type: args.x: is not declared"},
		{flow.Begin{Input: map[string]any{"f": func() {}}}, "flow: input: value.type: a value must be JSON"},
	} {
		_, err := p.Step(nil, test.begin, goldenWorld(nil))
		require.EqualError(t, err, test.want)
	}
	turn, err := p.Step(nil, flow.Begin{Vars: map[string]any{"n": "41"}}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, 41, turn.State.Ended.Output, "texts of numbers are numbers")
}

func TestInputsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for _, in := range []flow.Input{
		flow.Begin{Input: map[string]any{"text": "hi"}},
		flow.Reply{Message: map[string]any{"text": "<&>"}},
		flow.Timer{ID: "1"},
		flow.EffectDone{ID: "1", Err: &flow.Error{Code: "a.b", Message: "c"}},
		flow.Assigned{},
		flow.HandoffClosed{},
		flow.Event{Name: "x", Data: map[string]any{"a": "b"}},
		flow.Approval{ID: "1", Approved: true},
		flow.Cancel{Reason: "x"},
		flow.Continue{},
	} {
		raw, err := flow.EncodeInput(in)
		require.NoError(t, err)
		got, err := flow.DecodeInput(raw)
		require.NoError(t, err)
		require.Equal(t, in, got)
	}
	for _, raw := range []string{``, `[]`, `{}`, `{"timer":{},"cancel":{}}`, `{"unknown":{}}`, `{"timer":{"id":1}}`} {
		_, err := flow.DecodeInput([]byte(raw))
		require.Error(t, err, raw)
	}
}

// Decoding an encoded state yields the same state.
func TestStateIsExact(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"most": 9223372036854775807, "least": -9223372036854775808, "beyond": 1 << 53, "odd": 9007199254740993, "float": 0.1, "big": 1e300, "small": 5e-324,
		"text": "a\"\\<>&\u2028\u0000😀\n", "nothing": nil, "yes": true, "list": []any{1, 1.5, []any{}, map[string]any{}}, "object": map[string]any{"": 1, "a b": "c"},
	}
	p := nodes(t, map[string]any{"A": nodeOf("question", map[string]any{"timeout": "PT1H"})})
	turn, err := p.Step(nil, flow.Begin{Vars: values, Input: values}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, values, turn.State.Frames[0].Vars)
	raw, err := json.Marshal(turn.State)
	require.NoError(t, err)
	var back flow.State
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, *turn.State, back)
	require.Error(t, json.Unmarshal([]byte(`{"turns":"x"}`), &back))
}

// Ids of other systems may exceed the precision of a float64. They pass through
// calls and the journal unchanged.
func TestLargeNumbersComeThrough(t *testing.T) {
	t.Parallel()
	const id = 9007199254740993
	p := nodes(t, map[string]any{"A": nodeOf("http", map[string]any{
		"url": "https://example.com", "saveTo": "all", "extract": []any{map[string]any{"var": "id", "path": "response.body.id"}},
	}, "out", "E"), "E": say("{{ vars.id }} {{ vars.all.body.id }}")}, map[string]any{"variables": map[string]any{"all": map[string]any{"type": "object"}, "id": map[string]any{"type": "integer"}}})
	for _, result := range []any{
		flow.HTTPResponse{Status: 200, Body: map[string]any{"id": id}},
		flow.HTTPResponse{Status: 200, Body: json.RawMessage(`{"id":9007199254740993}`)},
		json.RawMessage(`{"status":200,"body":{"id":9007199254740993}}`),
	} {
		turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(t, err)
		in := flow.Input(flow.EffectDone{ID: turn.State.Wait.ID, Result: result})
		for range 2 {
			next, err := p.Step(turn.State, in, goldenWorld(nil))
			require.NoError(t, err)
			require.Equal(t, []string{"9007199254740993 9007199254740993"}, texts(t, next))
			raw, err := flow.EncodeInput(in)
			require.NoError(t, err)
			in, err = flow.DecodeInput(raw)
			require.NoError(t, err)
		}
	}
}

// A turn neither keeps nor changes the values of its caller.
func TestTurnKeepsNothingOfItsCaller(t *testing.T) {
	t.Parallel()
	p := nodes(t, map[string]any{
		"A": nodeOf("set", map[string]any{"assign": []any{map[string]any{"var": "a", "value": "{{ input.list }}"}, map[string]any{"var": "a[0]", "value": 9}, map[string]any{"var": "o", "value": "{{ input.o }}"}, map[string]any{"var": "o.x.y", "value": 1}}}, "out", "B"),
		"B": nodeOf("contact", map[string]any{"ops": []any{map[string]any{"op": "add_tag", "value": "x"}, map[string]any{"op": "set_field", "name": "f", "value": 1}}}, "out", "C"),
		"C": nodeOf("question", map[string]any{}),
	})
	input := map[string]any{"list": []any{1, 2}, "o": map[string]any{"x": map[string]any{"y": 0}}}
	w := goldenWorld(nil)
	before := marshal(t, []any{input, w.Contact})
	turn, err := p.Step(nil, flow.Begin{Input: input}, w)
	require.NoError(t, err)
	require.Equal(t, before, marshal(t, []any{input, w.Contact}))
	require.Equal(t, []any{9, 2}, turn.State.Frames[0].Vars["a"])
	require.Equal(t, []any{1, 2}, turn.State.Input["list"], "values are not changed in place")
	input["list"].([]any)[0] = "changed"
	require.Equal(t, []any{1, 2}, turn.State.Start["list"])
	require.WithinDuration(t, goldenNow, turn.Trace[0].At, time.Duration(0))
}
