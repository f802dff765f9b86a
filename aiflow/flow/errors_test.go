package flow_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// texts returns the texts that turns have sent.
func texts(t testing.TB, turns ...*flow.Turn) []string {
	t.Helper()
	var out []string
	for _, turn := range turns {
		for _, e := range turn.Effects {
			if s, ok := e.(flow.Send); ok {
				var m struct{ Text string }
				require.NoError(t, json.Unmarshal(s.Message, &m))
				out = append(out, m.Text)
			}
		}
	}
	return out
}

// walk returns the nodes of some turns.
func walk(turns ...*flow.Turn) string {
	var out []string
	for _, turn := range turns {
		for _, row := range turn.Trace {
			out = append(out, row.Node)
		}
	}
	return strings.Join(out, " ")
}

func say(text string, next ...string) map[string]any {
	return nodeOf("message", map[string]any{"text": text}, next...)
}

func throw(code string) map[string]any {
	return nodeOf("throw", map[string]any{"code": code, "message": "thrown"})
}

func functionDoc(slug string, list map[string]any, more map[string]any) json.RawMessage {
	d := map[string]any{"format": flow.Format, "kind": "function", "engine": "aiflow", "slug": slug, "name": slug, "start": "F", "nodes": list}
	for name, v := range more {
		d[name] = v
	}
	raw, _ := json.Marshal(d)
	return raw
}

func call(slug string, next ...string) map[string]any {
	return nodeOf("call", map[string]any{"function": slug}, next...)
}

// calling returns a flow with functions.
func calling(t testing.TB, list map[string]any, settings map[string]any, functions ...json.RawMessage) *flow.Program {
	t.Helper()
	list["T"] = map[string]any{"type": "trigger", "next": map[string]any{"out": "A"}}
	if settings == nil {
		settings = map[string]any{}
	}
	c := conversation{Functions: map[string]json.RawMessage{}, Document: json.RawMessage(marshal(t, map[string]any{
		"format": flow.Format, "kind": "flow", "engine": "aiflow", "slug": "test", "name": "test", "start": "T", "nodes": list, "settings": settings,
		"variables": map[string]any{"n": map[string]any{"type": "integer"}, "out": map[string]any{"type": "list"}},
	}))}
	for _, raw := range functions {
		var f struct{ Slug string }
		require.NoError(t, json.Unmarshal(raw, &f))
		c.Functions[f.Slug] = raw
	}
	return c.compile(t)
}

func TestWhoTakesAnError(t *testing.T) {
	t.Parallel()
	bad := functionDoc("bad", map[string]any{"F": throw("bad.thing")}, nil)
	saved := functionDoc("saved", map[string]any{"F": throw("bad.thing"), "G": nodeOf("return", map[string]any{"name": "saved"})}, map[string]any{"settings": map[string]any{"onError": "G"}})
	outer := functionDoc("outer", map[string]any{"F": nodeOf("loop", map[string]any{"kind": "count", "times": "3", "onItemError": "continue"}, "body", "C"), "C": call("bad"), "D": nodeOf("return", map[string]any{})}, nil)
	for _, test := range []struct {
		name     string
		list     map[string]any
		settings map[string]any
		walk     string
		failed   string
	}{
		{"nobody", map[string]any{"A": call("bad")}, nil, "T A F", "bad.thing"},
		{"the call", map[string]any{"A": call("bad", "error", "E"), "E": say("{{ error.code }}")}, nil, "T A F A E", ""},
		{"the loop around the call", map[string]any{
			"A": nodeOf("loop", map[string]any{"kind": "count", "times": "3"}, "body", "B", "error", "E"), "B": call("bad"), "E": say("{{ error.code }}"),
		}, nil, "T A B F A E", ""},
		{"the loop around the loop", map[string]any{
			"A": nodeOf("loop", map[string]any{"kind": "count", "times": "2", "onItemError": "continue"}, "body", "B", "done", "E"),
			"B": nodeOf("loop", map[string]any{"kind": "count", "times": "2"}, "body", "C"), "C": call("bad"), "E": say("done"),
		}, nil, "T A B C F A B C F A E", ""},
		{"onError of the flow", map[string]any{"A": call("bad"), "E": say("{{ error.code }}")}, map[string]any{"onError": "E"}, "T A F E", ""},
		{"onError of the function", map[string]any{"A": call("saved", "return:saved", "E"), "E": say("saved")}, nil, "T A F G A E", ""},
		{"a loop in a function", map[string]any{"A": call("outer", "out", "E", "error", "X"), "E": say("fine"), "X": say("never")}, nil, "T A F C F F C F F C F F A E", ""},
		{"onError fails itself", map[string]any{"A": call("bad"), "E": throw("worse.thing")}, map[string]any{"onError": "E"}, "T A F E", "worse.thing"},
		{"a loop's own error is no round's", map[string]any{
			"A": nodeOf("loop", map[string]any{"kind": "while", "while": "1 / vars.n > 0", "onItemError": "continue"}, "body", "B", "error", "E"), "B": say("never"), "E": say("{{ error.code }}"),
		}, nil, "T A E", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := calling(t, test.list, test.settings, bad, saved, outer)
			turn, err := p.Step(nil, flow.Begin{Vars: map[string]any{"n": 0}}, goldenWorld(nil))
			require.NoError(t, err)
			require.Equal(t, test.walk, walk(turn))
			require.NotNil(t, turn.State.Ended)
			if test.failed == "" {
				require.Equal(t, flow.StatusCompleted, turn.State.Ended.Status)
				return
			}
			require.Equal(t, flow.StatusFailed, turn.State.Ended.Status)
			require.Equal(t, test.failed, turn.State.Ended.Error.Code)
		})
	}
}

// onError handles one error at a time: another one only after the run has waited.
func TestOnErrorDoesNotGoInCircles(t *testing.T) {
	t.Parallel()
	w := goldenWorld(nil)
	p := calling(t, map[string]any{"A": throw("x.y"), "E": nodeOf("question", map[string]any{"prompt": map[string]any{"text": "Again?"}}, "out", "A")}, map[string]any{"onError": "E"})
	turn, err := p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	for range 3 {
		require.Nil(t, turn.State.Ended)
		turn, err = p.Step(turn.State, flow.Reply{Message: map[string]any{"text": "yes"}}, w)
		require.NoError(t, err)
	}
	p = calling(t, map[string]any{"A": throw("x.y"), "E": nodeOf("goto", map[string]any{"node": "A"})}, map[string]any{"onError": "E"})
	turn, err = p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.Equal(t, "T A E A", walk(turn))
	require.Equal(t, flow.StatusFailed, turn.State.Ended.Status)
}

func TestLoopsAndFunctionsInEachOther(t *testing.T) {
	t.Parallel()
	first := functionDoc("first", map[string]any{
		"F": nodeOf("loop", map[string]any{"kind": "each", "items": "args.list"}, "body", "G", "done", "N"),
		"G": nodeOf("condition", map[string]any{"branches": []any{map[string]any{"id": "big", "when": "item > 1"}}}, "big", "R"),
		"R": nodeOf("return", map[string]any{"value": map[string]any{"found": "{{ item }}"}}), "N": nodeOf("return", map[string]any{"name": "none"}),
	}, map[string]any{"args": map[string]any{"list": map[string]any{"type": "list"}}, "returns": map[string]any{"found": map[string]any{"type": "integer"}}})
	p := calling(t, map[string]any{
		"A": nodeOf("loop", map[string]any{"kind": "each", "items": "[[1, 2, 3], [0], [5]]", "collect": map[string]any{"var": "out", "value": "vars.n"}}, "body", "B", "done", "E"),
		"B": nodeOf("call", map[string]any{"function": "first", "args": map[string]any{"list": "{{ item }}"}, "saveTo": "found"}, "out", "C", "return:none", "D"),
		"C": nodeOf("set", map[string]any{"assign": []any{map[string]any{"var": "n", "value": "{{ vars.found.found }}"}}}),
		"D": nodeOf("set", map[string]any{"assign": []any{map[string]any{"var": "n", "value": -1}}}),
		"E": say("{{ join(vars.out, ' ') }}"),
	}, nil, first)
	turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, []string{"2 -1 5"}, texts(t, turn))

	stop := functionDoc("stop", map[string]any{"F": nodeOf("end", map[string]any{"result": "{{ args.why }}"})}, map[string]any{"args": map[string]any{"why": map[string]any{"type": "string", "secret": true}}})
	p = calling(t, map[string]any{"A": nodeOf("loop", map[string]any{"kind": "count", "times": "3"}, "body", "B"), "B": nodeOf("call", map[string]any{"function": "stop", "args": map[string]any{"why": "because of {{ index }}"}})}, nil, stop)
	turn, err = p.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, "because of 0", turn.State.Ended.Output, "end ends the run, however deep")
	require.Len(t, turn.State.Frames, 1)
	require.NotContains(t, marshal(t, turn.Trace[len(turn.Trace)-1]), "because", "and what was secret there is in no trace")
}

// A refused effect is identified by its id, which is the same when the turn is
// computed again.
func TestRefusedEffects(t *testing.T) {
	t.Parallel()
	p := calling(t, map[string]any{
		"A": say("one", "out", "B"), "B": say("two", "out", "C", "error", "D"), "C": say("three"),
		"D": nodeOf("contact", map[string]any{"ops": []any{map[string]any{"op": "opt_out"}}}, "out", "E", "error", "F"), "E": say("never"), "F": say("{{ error.code }}"),
	}, nil)
	w := goldenWorld(nil)
	turn, err := p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "three"}, texts(t, turn))
	w.Refused = map[string]*flow.Error{turn.Effects[1].(flow.Send).ID: {Code: "channel.window_closed"}}
	turn, err = p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "never"}, texts(t, turn))
	w.Refused[turn.Effects[1].(flow.ContactChange).ID] = &flow.Error{Code: "contact.gone"}
	turn, err = p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "contact.gone"}, texts(t, turn))
}

// A request that may have arrived is repeated only if that is safe.
func TestWhatIsRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, idempotency string
		result              flow.EffectDone
		again               bool
	}{
		{"GET", "auto", flow.EffectDone{Err: &flow.Error{Code: "http.timeout"}}, true},
		{"GET", "once", flow.EffectDone{Err: &flow.Error{Code: "http.timeout"}}, false},
		{"POST", "auto", flow.EffectDone{Err: &flow.Error{Code: "http.timeout"}}, false},
		{"POST", "safe", flow.EffectDone{Err: &flow.Error{Code: "http.timeout"}}, true},
		{"POST", "auto", flow.EffectDone{Err: &flow.Error{Code: "http.connect"}}, true},
		{"POST", "auto", flow.EffectDone{Result: flow.HTTPResponse{Status: 503}}, true},
		{"POST", "auto", flow.EffectDone{Result: flow.HTTPResponse{Status: 429}}, true},
		{"POST", "auto", flow.EffectDone{Result: flow.HTTPResponse{Status: 500}}, false},
		{"PUT", "auto", flow.EffectDone{Result: flow.HTTPResponse{Status: 500}}, true},
		{"GET", "auto", flow.EffectDone{Result: flow.HTTPResponse{Status: 404}}, false},
		{"GET", "auto", flow.EffectDone{Err: &flow.Error{Code: "http.blocked_host"}}, false},
		{"GET", "auto", flow.EffectDone{Err: &flow.Error{Code: "effect.unknown"}}, false},
	} {
		p := nodes(t, map[string]any{"A": nodeOf("http", map[string]any{"url": "https://example.com", "method": test.method, "idempotency": test.idempotency, "retry": map[string]any{"max": 1}}, "error", "E"), "E": say("{{ error.code }}")})
		w := goldenWorld(nil)
		turn, err := p.Step(nil, flow.Begin{}, w)
		require.NoError(t, err)
		first := turn.Effects[0].(flow.Call)
		test.result.ID = first.ID
		turn, err = p.Step(turn.State, test.result, w)
		require.NoError(t, err)
		require.Equal(t, test.again, turn.State.Ended == nil, "%+v", test)
		if !test.again {
			continue
		}
		w.Now = w.Now.Add(time.Second)
		turn, err = p.Step(turn.State, flow.Timer{ID: turn.State.Wait.Timer}, w)
		require.NoError(t, err)
		second := turn.Effects[0].(flow.Call)
		require.Equal(t, first.Key, second.Key, "all attempts have one key")
		require.Equal(t, 2, second.Attempt)
		test.result.ID = second.ID
		turn, err = p.Step(turn.State, test.result, w)
		require.NoError(t, err)
		require.NotNil(t, turn.State.Ended)
	}
}

// A missing flow fails the run that would jump to it.
func TestRefusedJump(t *testing.T) {
	t.Parallel()
	p := nodes(t, map[string]any{"A": nodeOf("flow", map[string]any{"flow": "other"})})
	w := goldenWorld(nil)
	turn, err := p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	w.Refused = map[string]*flow.Error{turn.Effects[0].(flow.Jump).ID: {Code: "flow.not_found", Message: "there is no flow other"}}
	turn, err = p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.Empty(t, turn.Effects)
	require.Equal(t, &flow.Error{Code: "flow.not_found", Message: "there is no flow other", Node: "A"}, turn.State.Ended.Error)
	require.Nil(t, turn.State.Ended.Jump)
}
