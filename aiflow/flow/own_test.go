package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// shelf is the configuration of a node of an embedder.
type shelf struct {
	Item   string         `json:"item" required:"true" min:"1" max:"10" doc:"What is asked for."`
	Colour string         `json:"colour" enum:"red,blue" default:"red" doc:"In which colour."`
	Count  int            `json:"count" default:"1" min:"1" max:"99" doc:"How many."`
	Weight float64        `json:"weight" doc:"Of one, in kg."`
	Gift   bool           `json:"gift" doc:"Whether it is wrapped."`
	Within time.Duration  `json:"within" default:"PT1H" doc:"When it is needed."`
	Words  []string       `json:"words" max:"3" itemMax:"5" doc:"What is written on it."`
	Labels map[string]any `json:"labels" doc:"Whatever."`
	Key    string         `json:"key" pattern:"credential" doc:"Credential of the store."`
	To     *struct {
		Town string `json:"town" required:"true"`
	} `json:"to" doc:"Where it goes."`
}

// shelves returns types with x.shelf, which runs a function.
func shelves(t testing.TB, run func(context.Context, flow.NodeCall, shelf) (flow.NodeResult, error)) *flow.Types {
	t.Helper()
	types := node.NewTypes()
	require.NoError(t, types.Register(flow.NodeType{
		Name: "x.shelf", Text: "Looks up how many there are.",
		Outputs: []flow.Output{{Name: "out", Text: "there are some"}, {Name: "none", Text: "there are none"}},
		Errors:  []string{"shelf.closed"}, Run: flow.NodeFunc(run),
	}))
	return types
}

func nothing(context.Context, flow.NodeCall, shelf) (flow.NodeResult, error) {
	return flow.NodeResult{}, nil
}

// TestOwnNodeIsChecked checks the problems of a custom node in each of the three
// passes, with their positions.
func TestOwnNodeIsChecked(t *testing.T) {
	t.Parallel()
	types, env := shelves(t, nothing), &flow.Environment{Credentials: []string{"mine"}}
	for config, want := range map[string]string{
		`{"item":"cup"}`: "",
		`{"item":"{{ vars.n }}","count":"{{ vars.n + 1 }}","words":["{{ vars.s }}"],"labels":{"a":[{"b":"{{ now }}"}]},"weight":"{{ vars.s }}",
			"to":{"town":"{{ contact.name }}"},"key":"mine","gift":true,"timeout":"PT1M","retry":{"max":2},"saveTo":"n"}`: "",
		`{}`:                                        "error shape.required /nodes/n/config: item is missing (What is asked for.)",
		`{"item":"a glass of wine"}`:                "error shape.length /nodes/n/config/item: has 15 characters; the maximum is 10 characters",
		`{"item":"cup","amount":2}`:                 "error shape.unknown /nodes/n/config/amount: is unknown (did you mean count?)",
		`{"item":"cup","count":0}`:                  "error shape.range /nodes/n/config/count: must be from 1 to 99",
		`{"item":"cup","count":"two"}`:              "error shape.type /nodes/n/config/count: must be a number, not a string",
		`{"item":"cup","colour":"{{ 1 }}"}`:         `error shape.enum /nodes/n/config/colour: "{{ 1 }}" is not valid (one of red, blue)`,
		`{"item":"cup","words":"{{ vars.s }}"}`:     "error shape.type /nodes/n/config/words: must be a list, not a string",
		`{"item":"cup","to":{}}`:                    "error shape.required /nodes/n/config/to: town is missing",
		`{"item":"cup","timeout":"PT1H"}`:           "error shape.range /nodes/n/config/timeout: must be from PT1S to PT5M",
		`{"item":"{{ vars.x }}"}`:                   `error expression.unknown_member /nodes/n/config/item @8: uses the member "x", which is not declared`,
		`{"item":"{{ 1 + }}"}`:                      "error expression.syntax /nodes/n/config/item @6: ",
		`{"item":"cup","labels":{"a":["{{ y }}"]}}`: `error expression.unknown_name /nodes/n/config/labels/a/0 @3: `,
		`{"item":"{{ [1] }}"}`:                      "error expression.type /nodes/n/config/item: is list; it must be of type string",
		`{"item":"cup","count":"{{ contact }}"}`:    "error expression.type /nodes/n/config/count: is object; it must be of type integer",
		`{"item":"cup","words":["{{ [1] }}"]}`:      "error expression.type /nodes/n/config/words/0: ",
		`{"item":"cup","to":{"town":"{{ [1] }}"}}`:  "error expression.type /nodes/n/config/to/town: ",
		`{"item":"cup","saveTo":"m"}`:               "warning variable.undeclared /nodes/n/config/saveTo: there is no variable m",
		`{"item":"cup","key":"yours"}`:              "error unknown.credential /nodes/n/config/key: there is no credential yours",
	} {
		raw := `{"format":"trunkline-flow/1","kind":"flow","slug":"s","name":"S","start":"t","variables":{"n":{"type":"integer"},"s":{"type":"string"}},
			"nodes":{"t":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"n"}},"n":{"type":"x.shelf","config":` + config + `}}}`
		_, problems := compile(t, types, []byte(raw), env)
		if want == "" {
			require.Empty(t, lines(problems), config)
			continue
		}
		require.Len(t, problems, 1, "%s %v", config, lines(problems))
		require.True(t, strings.HasPrefix(lines(problems)[0], want), "%s\n%s", config, lines(problems)[0])
	}
	_, problems := compile(t, types, []byte(one(`{"type":"x.shelf","config":{"item":"cup"},"next":{"nine":"n"}}`)), env)
	require.Equal(t, []string{"error graph.output /nodes/n/next/nine: a node of type x.shelf has no output nine (did you mean none?)"}, lines(problems))
	_, problems = compile(t, types, []byte(one(`{"type":"x.shell","config":{"item":"cup"}}`)), env)
	require.Equal(t, []string{"error unknown.type /nodes/n/type: this program has no node type x.shell (did you mean x.shelf?)"}, lines(problems))
}

// TestOwnNodeIsDescribed checks the palette and the schema for editors.
func TestOwnNodeIsDescribed(t *testing.T) {
	t.Parallel()
	types := shelves(t, nothing)
	var d flow.Description
	for _, n := range types.Describe().Nodes {
		if n.Name == "x.shelf" {
			d = n
		}
	}
	raw, err := json.MarshalIndent(d, "", "\t")
	require.NoError(t, err)
	golden(t, "testdata/own.json", append(raw, 10))

	s := schema(t, types.Schema())
	for node, fits := range map[string]bool{
		`{"type":"x.shelf","config":{"item":"{{ vars.n }}","count":"{{ 2 }}","saveTo":"n"}}`: true,
		`{"type":"x.shelf","config":{"item":"cup","amount":2}}`:                              false,
		`{"type":"x.shelf"}`: false,
	} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(one(node)), &v))
		if err := s.Validate(v); fits {
			require.NoError(t, err, node)
		} else {
			require.Error(t, err, node)
		}
	}
}

// stocked returns a run that has reached x.shelf with a configuration.
func stocked(t testing.TB, types *flow.Types, config string) (*story, *flow.Turn) {
	t.Helper()
	p, problems := compile(t, types, []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"s","name":"S","start":"t",
		"variables":{"n":{"type":"any"},"s":{"type":"string","default":"hush","secret":true}},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"n"}},
		"n":{"type":"x.shelf","config":`+config+`,"next":{"out":"some","none":"none","error":"sorry"}},
		"some":{"type":"end","config":{"result":"{{ vars.n }}"}},"none":{"type":"end","config":{"result":"none"}},
		"sorry":{"type":"end","config":{"result":"{{ error.code + \": \" + error.message }}"}}}}`), nil)
	require.NotNil(t, p, "%v", lines(problems))
	s := &story{p: p, w: goldenWorld(nil)}
	turn, err := s.step(t, flow.Begin{Input: map[string]any{"n": 7, "item": "cup", "none": nil, "list": []any{1}}})
	require.NoError(t, err)
	return s, turn
}

// TestOwnNodeRuns renders a configuration, calls the function, and leaves by the
// output that it returns.
func TestOwnNodeRuns(t *testing.T) {
	t.Parallel()
	var got shelf
	var of flow.NodeCall
	types := shelves(t, func(_ context.Context, c flow.NodeCall, in shelf) (flow.NodeResult, error) {
		got, of = in, c
		if in.Count > 10 {
			return flow.NodeResult{Output: "none"}, nil
		}
		return flow.NodeResult{Value: map[string]any{"left": in.Count}}, nil
	})
	s, turn := stocked(t, types, `{"item":"{{ start.item }} {{ start.n }}","count":"{{ start.n }}","weight":"{{ start.none }}","words":["{{ vars.s }}","{{ start.n }}"],
		"labels":{"at":"{{ now }}","deep":[{"n":"{{ start.n }}"}]},"to":{"town":"{{ \"Rome\" }}"},"saveTo":"n","timeout":"PT5S"}`)
	call := asks(t, turn)
	require.Equal(t, flow.CallNode, call.Kind)
	require.True(t, call.Once)
	require.Equal(t, 5*time.Second, call.Timeout)
	require.Equal(t, "•••", turn.Trace[1].In["words"].([]any)[0])
	require.Equal(t, "cup 7", turn.Trace[1].In["item"])

	out, err := types.Call(t.Context(), call.Request.(flow.NodeRequest), flow.NodeCall{Key: call.Key, Attempt: call.Attempt})
	require.NoError(t, err)
	require.Equal(t, call.Key, of.Key)
	require.Equal(t, "cup 7", got.Item)
	require.Equal(t, "red", got.Colour, "the default")
	require.Equal(t, 7, got.Count)
	require.Zero(t, got.Weight, "nothing is as if it were not given")
	require.Equal(t, time.Hour, got.Within)
	require.Equal(t, []string{"hush", "7"}, got.Words)
	require.Equal(t, "Rome", got.To.Town)
	require.Equal(t, map[string]any{"at": "2026-03-02T10:00:00Z", "deep": []any{map[string]any{"n": 7}}}, got.Labels)

	raw, err := json.Marshal(out) // as the journal has it
	require.NoError(t, err)
	turn, err = s.step(t, flow.EffectDone{ID: call.ID, Result: json.RawMessage(raw)})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"left": 7}, turn.State.Ended.Output)
	require.Equal(t, map[string]any{"value": map[string]any{"left": 7}}, turn.Trace[0].Out)

	for result, want := range map[string]string{
		`{"output":"none"}`:  "none",
		`{"output":"out"}`:   "<nil>",
		`{"output":"error"}`: "node.failed: The function of x.shelf returned the output error, which the node type does not have.",
		`{"output":"no"}`:    "node.failed: The function of x.shelf returned the output no, which the node type does not have.",
		`{"nonsense`:         "internal: the result of the call cannot be read",
		`{"value":"` + strings.Repeat("x", 70_000) + `"}`: "value.too_large: a text has at most 65,536 bytes",
	} {
		s, turn := stocked(t, types, `{"item":"cup","saveTo":"n"}`)
		turn, err = s.step(t, flow.EffectDone{ID: asks(t, turn).ID, Result: json.RawMessage(result)})
		require.NoError(t, err)
		require.Equal(t, want, textOf(turn.State.Ended.Output), result)
	}
}

func textOf(v any) string {
	if v == nil {
		return "<nil>"
	}
	s, _ := v.(string)
	return s
}

// TestOwnNodeOutOfBounds takes the error output if the rendered configuration is
// invalid.
func TestOwnNodeOutOfBounds(t *testing.T) {
	t.Parallel()
	types := shelves(t, nothing)
	for config, want := range map[string]string{
		`{"item":"a {{ start.item }} of wine"}`:        "value.type: item: has 13 characters; the maximum is 10 characters",
		`{"item":"{{ start.none }}"}`:                  "value.type: item is missing",
		`{"item":"cup","count":"{{ start.n * 100 }}"}`: "value.type: count: must be from 1 to 99",
		`{"item":"cup","count":"{{ start.n / 2 }}"}`:   "value.type: count: must be of type integer",
		`{"item":"cup","count":"{{ start.item }}"}`:    "value.type: count: must be of type integer",
		`{"item":"{{ start.list }}"}`:                  "value.type: item: must be of type string",
		`{"item":"cup","words":["{{ start.none }}"]}`:  "value.type: words.0: must be a string, not null",
		`{"item":"cup","labels":{"a":"{{ repeat(\"x\", 60000) }}","b":"{{ repeat(\"x\", 60000) }}","c":"{{ repeat(\"x\", 60000) }}","d":"{{ repeat(\"x\", 60000) }}","e":"{{ repeat(\"x\", 60000) }}"}}`: "value.too_large: the configuration is larger than 256 KiB",
	} {
		_, turn := stocked(t, types, config)
		require.NotNil(t, turn.State.Ended, config)
		require.Equal(t, want, turn.State.Ended.Output, config)
	}
}

// TestOwnNodeFails checks the codes of failed calls, and whether they are repeated.
func TestOwnNodeFails(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	in := flow.NodeRequest{Type: "x.shelf", Config: json.RawMessage(`{"item":"cup"}`)}
	code := func(ctx context.Context, in flow.NodeRequest, err error, value any) string {
		types := shelves(t, func(context.Context, flow.NodeCall, shelf) (flow.NodeResult, error) {
			return flow.NodeResult{Value: value}, err
		})
		_, err = types.Call(ctx, in, flow.NodeCall{})
		var known *flow.Error
		require.ErrorAs(t, err, &known)
		return known.Code
	}
	require.Equal(t, "shelf.closed", code(t.Context(), in, &flow.Error{Code: "shelf.closed"}, nil))
	require.Equal(t, flow.CodeNodeFailed, code(t.Context(), in, errors.New("no"), nil))
	require.Equal(t, flow.CodeNodeFailed, code(t.Context(), in, nil, func() {}))
	require.Equal(t, flow.CodeNodeTimeout, code(ended, in, ended.Err(), nil))
	require.Equal(t, "value.too_large", code(t.Context(), in, nil, strings.Repeat("x", 1<<20)))
	require.Equal(t, "value.type", code(t.Context(), flow.NodeRequest{Type: "x.shelf", Config: json.RawMessage(`{"item":1}`)}, nil, nil))
	require.Equal(t, "unknown.type", code(t.Context(), flow.NodeRequest{Type: "x.other"}, nil, nil))
	require.Equal(t, "unknown.type", code(t.Context(), flow.NodeRequest{Type: "message"}, nil, nil))

	for _, repeat := range []bool{false, true} {
		types := node.NewTypes()
		require.NoError(t, types.Register(flow.NodeType{Name: "x.shelf", Text: "Looks.", Outputs: []flow.Output{{Name: "out"}, {Name: "none"}}, Run: flow.NodeFunc(nothing), Repeat: repeat}))
		for code, again := range map[string]bool{
			flow.CodeNodeUnavailable: true, flow.CodeNodeFailed: repeat, flow.CodeNodeTimeout: repeat, flow.CodeUnknown: false, "shelf.closed": false,
		} {
			s, turn := stocked(t, types, `{"item":"cup","retry":{"max":1}}`)
			first := asks(t, turn)
			require.Equal(t, !repeat, first.Once)
			turn, err := s.step(t, flow.EffectDone{ID: first.ID, Err: &flow.Error{Code: code, Message: "No."}})
			require.NoError(t, err)
			if !again {
				require.Equal(t, code+": No.", turn.State.Ended.Output)
				continue
			}
			s.w.Now = s.w.Now.Add(time.Second)
			turn, err = s.step(t, flow.Timer{ID: turn.State.Wait.Timer})
			require.NoError(t, err)
			second := asks(t, turn)
			require.Equal(t, first.Key, second.Key)
			require.Equal(t, 2, second.Attempt)
			turn, err = s.step(t, flow.EffectDone{ID: second.ID, Err: &flow.Error{Code: code, Message: "No."}})
			require.NoError(t, err)
			require.Equal(t, code+": No.", turn.State.Ended.Output)
		}
	}
}

// TestOwnNodeIsGone refuses to publish a document with a missing node type. A
// published one runs until it reaches the node.
func TestOwnNodeIsGone(t *testing.T) {
	t.Parallel()
	document := func(next, more string) []byte {
		return []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"s","name":"S","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"n"}},
			"n":{"type":"x.shelf","config":{"item":"cup","saveTo":"n"},"next":{"out":"end","none":"end"` + next + `}},
			"end":{"type":"end","config":{"result":"{{ vars.n }}"}}` + more + `}}`)
	}
	types := node.NewTypes()
	published := &flow.Environment{Published: true}
	d := decode(t, document("", ""))
	_, problems := types.Compile(d, nil)
	require.True(t, flow.Failed(problems))
	require.Contains(t, lines(problems), "error unknown.type /nodes/n/type: this program has no node type x.shelf (register it when the program starts)")
	p, problems := types.Compile(d, published)
	require.NotNil(t, p, "%v", lines(problems))
	turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, flow.StatusFailed, turn.State.Ended.Status)
	require.Equal(t, &flow.Error{Code: "unknown.type", Message: "This program has no node type x.shelf.", Node: "n"}, turn.State.Ended.Error)

	p, problems = types.Compile(decode(t, document(`,"error":"sorry"`, `,"sorry":{"type":"end","config":{"result":"{{ error.code }}"}}`)), published)
	require.NotNil(t, p, "%v", lines(problems))
	turn, err = p.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, "unknown.type", turn.State.Ended.Output)

	// A run that waited for the function when the program was changed to one
	// without it.
	before, problems := shelves(t, nothing).Compile(decode(t, document("", "")), nil)
	require.NotNil(t, before, "%v", lines(problems))
	turn, err = before.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	p, _ = types.Compile(decode(t, document("", "")), published)
	turn, err = p.Step(turn.State, flow.EffectDone{ID: asks(t, turn).ID, Result: json.RawMessage(`{}`)}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, "unknown.type", turn.State.Ended.Error.Code)

	function := decode(t, functionDoc("look", map[string]any{"F": map[string]any{"type": "x.shelf", "config": map[string]any{"item": "cup"}}}, nil))
	caller := decode(t, []byte(one(`{"type":"call","config":{"function":"look"}}`)))
	env := flow.Environment{Functions: map[string]*flow.Document{"look": function}}
	_, problems = types.Compile(caller, &env)
	require.Equal(t, []string{"error function.broken /nodes/n/config/function: the function look has errors (correct the errors first)"}, lines(problems))
	env.Published = true
	p, problems = types.Compile(caller, &env)
	require.NotNil(t, p, "%v", lines(problems))
}

// TestRegisterFunction checks that invalid node types are refused.
func TestRegisterFunction(t *testing.T) {
	t.Parallel()
	run := flow.NodeFunc(nothing)
	for want, nt := range map[string]flow.NodeType{
		`flow: node type "x.a" has both Config and Run`:                             {Name: "x.a", Run: run, Config: func() flow.Config { return &pingConfig{} }},
		`flow: node type "x.b" has neither Run nor Config`:                          {Name: "x.b", Run: flow.NodeFunc[shelf](nil)},
		`flow: the function of node type "x.c" takes a string, not a struct`:        {Name: "x.c", Run: taking[string]()},
		`flow: node type "x.d": its output "out" is given twice`:                    {Name: "x.d", Run: run, Outputs: []flow.Output{{Name: "out"}, {Name: "out"}}},
		`flow: node type "x.e": its output "a:b" is given twice, or does not match`: {Name: "x.e", Run: run, Outputs: []flow.Output{{Name: "a:b"}}},
		`flow: node type "x.f": it has no output "out", by which it is left`:        {Name: "x.f", Run: run, Outputs: []flow.Output{{Name: "yes"}}},
		`flow: node type "x.g": text: a function takes plain types`: {Name: "x.g", Run: taking[struct {
			Text []flow.Text `json:"text"`
		}]()},
		`flow: node type "x.h": to: a function writes no variables`: {Name: "x.h", Run: taking[struct {
			To string `json:"to" writes:"true"`
		}]()},
		`flow: node type "x.i": retry is a member of every node`: {Name: "x.i", Run: taking[struct {
			Retry int `json:"retry"`
		}]()},
		`flow: node type "x.j": in: chan int cannot be a part`: {Name: "x.j", Run: taking[struct {
			In chan int `json:"in"`
		}]()},
		`flow: node type "x.k": at: time.Time has no member with a json tag`: {Name: "x.k", Run: taking[struct {
			At time.Time `json:"at"`
		}]()},
		`has no member with a json tag`: {Name: "x.l", Run: taking[struct{ Item string }]()},
	} {
		require.ErrorContains(t, node.NewTypes().Register(nt), want)
	}
	types := node.NewTypes()
	require.NoError(t, types.Register(flow.NodeType{Name: "x.a", Run: taking[struct{}](), Pass: "yes", Outputs: []flow.Output{{Name: "yes"}}}))
	require.ErrorContains(t, types.Register(flow.NodeType{Name: "x.a", Run: run}), `flow: there is a node type "x.a" already`)
}

func taking[In any]() *flow.Runner {
	return flow.NodeFunc(func(context.Context, flow.NodeCall, In) (flow.NodeResult, error) { return flow.NodeResult{}, nil })
}

// FuzzOwnNode configures a custom node in any way: what compiles runs, and the
// function gets valid arguments.
func FuzzOwnNode(f *testing.F) {
	for _, seed := range []string{
		`{"item":"cup"}`, `{"item":"{{ start.item }}","count":"{{ start.n }}"}`, `{"item":"{{ start.list }}"}`, `{"item":"a","labels":{"x":{"y":["{{ now }}"]}}}`,
		`{"item":"a","to":{"town":"{{ start.none }}"},"words":["{{ start.n }}"]}`, `{"item":"{{{{","timeout":"PT1S"}`, `[]`, `{"item":"\u0000","weight":1e400}`,
	} {
		f.Add(seed)
	}
	types := shelves(f, func(_ context.Context, _ flow.NodeCall, in shelf) (flow.NodeResult, error) {
		if in.Item == "" || len([]rune(in.Item)) > 10 || in.Count < 1 || in.Count > 99 || len(in.Words) > 3 {
			return flow.NodeResult{}, &flow.Error{Code: "broken.promise"}
		}
		return flow.NodeResult{}, nil
	})
	f.Fuzz(func(t *testing.T, config string) {
		d, _ := flow.Decode([]byte(one(`{"type":"x.shelf","config":` + config + `}`)))
		if d == nil {
			return
		}
		p, _ := types.Compile(d, nil)
		if p == nil {
			return
		}
		turn, err := p.Step(nil, flow.Begin{Input: map[string]any{"n": 7, "item": "cup", "none": nil, "list": []any{1}}}, goldenWorld(nil))
		require.NoError(t, err)
		for _, e := range turn.Effects {
			if call, is := e.(flow.Call); is && call.Kind == flow.CallNode {
				_, err := types.Call(t.Context(), call.Request.(flow.NodeRequest), flow.NodeCall{})
				require.NoError(t, err, config)
			}
		}
	})
}
