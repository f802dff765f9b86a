package flow_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// plain is a configuration without members.
type plain struct {
	Outs []string `json:"outs"`
}

func (p *plain) Outputs() []string                { return p.Outs }
func (*plain) Check(*flow.Checker)                {}
func (*plain) Step(*flow.Turn) (flow.Exit, error) { return flow.Out("out"), nil }

// wrapped is a configuration with one member of any type.
type wrapped[T any] struct {
	flow.Config
	Member T `json:"member" enum:"a"`
}

// bad are configurations that cannot be described.
type (
	badPattern struct {
		plain
		Name string `json:"name" pattern:"nothing"`
	}
	badBound struct {
		plain
		Name string `json:"name" max:"many"`
	}
	badDefault struct {
		plain
		N int `json:"n" default:"{"`
	}
	badRange struct {
		plain
		D []string `json:"d" itemMax:"x"`
	}
	notAPointer struct{ *plain }
	nested      struct {
		plain
		Self *nested `json:"self"`
	}
)

func TestRegister(t *testing.T) {
	t.Parallel()
	config := func() flow.Config { return &plain{} }
	for want, nt := range map[string]flow.NodeType{
		`flow: node type "x.x" has neither Run nor Config`:                {Name: "x.x"},
		`flow: "x.No" is not a name of a custom node type`:                {Name: "x.No", Config: config},
		`flow: "message" is not a name of a custom node type`:             {Name: "message", Config: config},
		`x.a: it must be a pointer to a struct`:                           {Name: "x.a", Config: func() flow.Config { return notAPointer{} }},
		`x.b: name: there is no pattern "nothing"`:                        {Name: "x.b", Config: func() flow.Config { return &badPattern{} }},
		`x.c: name: reading the bound "many"`:                             {Name: "x.c", Config: func() flow.Config { return &badBound{} }},
		`x.d: n: reading the default "{"`:                                 {Name: "x.d", Config: func() flow.Config { return &badDefault{} }},
		`x.e: self: self: `:                                               {Name: "x.e", Config: func() flow.Config { return &nested{} }},
		`x.f: member: chan int cannot be a part of a configuration`:       {Name: "x.f", Config: func() flow.Config { return &wrapped[chan int]{} }},
		`x.g: member: map[int]string cannot be a part of a configuration`: {Name: "x.g", Config: func() flow.Config { return &wrapped[map[int]string]{} }},
		`x.h: d: reading the bound "x"`:                                   {Name: "x.h", Config: func() flow.Config { return &badRange{} }},
		`x.i: it must be a pointer to a struct`:                           {Name: "x.i", Config: func() flow.Config { return nil }},
	} {
		types := node.NewTypes()
		err := types.Register(nt)
		require.Error(t, err, want)
		text := strings.Replace(err.Error(), `flow: reading the configuration of node type "`+nt.Name+`"`, nt.Name, 1)
		require.Contains(t, text, want)
	}
}

// Documents that were compiled before a type is registered know it afterwards.
func TestRegisterLater(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	raw := []byte(one(`{"type": "x.plain", "config": {"outs": ["a", "b:*"]}, "next": {"a": "n", "b:x": "n", "c": "n"}}`))
	_, problems := compile(t, types, raw, nil)
	require.Equal(t, []string{"error unknown.type /nodes/n/type: this program has no node type x.plain (register it when the program starts)"}, lines(problems))

	require.NoError(t, types.Register(flow.NodeType{Name: "x.plain", Wait: "event", Config: func() flow.Config { return &plain{} }}))
	_, problems = compile(t, types, raw, nil)
	require.Equal(t, []string{"error graph.output /nodes/n/next/c: a node of type x.plain has no output c (did you mean a?)"}, lines(problems))
	require.Contains(t, fmt.Sprint(types.Describe()), "x.plain")
	require.NotContains(t, fmt.Sprint(node.NewTypes().Describe()), "{x.plain ")
}

func TestCompileNothing(t *testing.T) {
	t.Parallel()
	for _, d := range []*flow.Document{nil, {}, {Name: "made by hand"}} {
		p, problems := node.NewTypes().Compile(d, nil)
		require.Nil(t, p)
		require.Equal(t, []string{"error document.empty : there is no document"}, lines(problems))
	}
}

// Programs are compiled, cached and evicted concurrently.
func TestCompileAtOnce(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	documents := make([]*flow.Document, 600) // more than are kept
	for i := range documents {
		documents[i] = decode(t, []byte(one(fmt.Sprintf(`{"type": "message", "config": {"text": "%d {{ contact.name }}"}}`, i))))
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range documents {
				d := documents[(i*7+worker)%len(documents)]
				p, problems := types.Compile(d, nil)
				if len(problems) > 0 || p.Hash() != d.Hash() {
					t.Error(lines(problems))
				}
			}
		})
	}
	all.Wait()
}

// A function may call itself and others, at any depth. A problem in one is reported
// at the call in the document.
func TestFunctions(t *testing.T) {
	t.Parallel()
	functions := map[string]*flow.Document{}
	add := func(slug string, calls ...string) {
		var nodes []string
		for i, called := range calls {
			nodes = append(nodes, fmt.Sprintf(`"c%d": {"type": "call", "config": {"function": "%s"}, "next": {"out": "c%d"}}`, i, called, i+1))
		}
		nodes = append(nodes, fmt.Sprintf(`"c%d": {"type": "return"}`, len(calls)))
		functions[slug] = decode(t, []byte(fmt.Sprintf(
			`{"format": "trunkline-flow/1", "kind": "function", "slug": "%s", "name": "F", "start": "c0", "nodes": {%s}}`, slug, strings.Join(nodes, ", "))))
	}
	add("self", "self")
	add("ping", "pong")
	add("pong", "ping")
	add("lost", "nowhere")
	add("deep", "lost")
	functions["broken"], _ = flow.Decode([]byte(`{"kind": "function"}`))
	add("uses", "broken")
	for i := range 101 {
		add(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))
	}
	add("f101")

	for slug, want := range map[string][]string{
		"self": {}, "ping": {},
		"lost":   {"error unknown.function /nodes/n/config/function: the function lost calls nowhere, which does not exist"},
		"deep":   {"error unknown.function /nodes/n/config/function: the function lost calls nowhere, which does not exist"},
		"broken": {"error function.broken /nodes/n/config/function: the function broken has errors (correct the errors first)"},
		"uses":   {"error function.broken /nodes/n/config/function: the function broken has errors (correct the errors first)"},
		"f0":     {"error document.functions /nodes/n/config/function: needs more than 100 functions"},
		"f50":    {},
	} {
		raw := []byte(one(`{"type": "call", "config": {"function": "` + slug + `"}}`))
		_, problems := compile(t, node.NewTypes(), raw, &flow.Environment{Functions: functions})
		require.Equal(t, want, lines(problems), slug)
	}
	for _, env := range []*flow.Environment{{}, {Functions: map[string]*flow.Document{}}} {
		_, problems := node.NewTypes().Compile(functions["self"], env)
		require.Empty(t, problems, "a function may call itself wherever it is")
	}
}

// loops returns a flow of nested loops.
func loops(n int) string {
	var nodes []string
	for i := range n {
		nodes = append(nodes, fmt.Sprintf(`"l%d": {"type": "loop", "config": {"kind": "count", "times": "2", "index": "i%d"}, "next": {"body": "l%d"}}`, i, i, i+1))
	}
	return document(`"t": {"type": "trigger", "next": {"out": "l0"}}, ` + strings.Join(nodes, ", ") +
		fmt.Sprintf(`, "l%d": {"type": "message", "config": {"text": "x"}}`, n))
}

// The sizes of documents, at their limits and beyond.
func TestSizes(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	nodes := func(n int) string {
		all := []string{`"t": {"type": "trigger"}`}
		for i := range n - 1 {
			all = append(all, fmt.Sprintf(`"n%d": {"type": "note"}`, i))
		}
		return document(strings.Join(all, ", "))
	}
	variables := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"v%d": {"type": "any"}`, i))
		}
		return strings.Replace(document(`"t": {"type": "trigger"}`), `{`, `{"variables": {`+strings.Join(all, ", ")+`}, `, 1)
	}
	with := func(member string) string {
		return strings.Replace(document(`"t": {"type": "trigger"}`), `{`, `{`+member+`, `, 1)
	}
	for name, c := range map[string]struct{ document, want string }{
		"1000 nodes":     {nodes(1000), ""},
		"1001 nodes":     {nodes(1001), "error shape.length /nodes: has 1001 members; the maximum is 1000 members"},
		"200 variables":  {variables(200), ""},
		"201 variables":  {variables(201), "error shape.length /variables: has 201 members; the maximum is 200 members"},
		"ui":             {with(`"ui": {"x": "` + strings.Repeat("x", (256<<10)-8) + `"}`), ""},
		"large ui":       {with(`"ui": {"x": "` + strings.Repeat("x", (256<<10)-7) + `"}`), "error shape.size /ui: has 262145 bytes; at most 262144 are allowed"},
		"large":          {with(`"translations": {"x": "` + strings.Repeat("x", flow.MaxBytes) + `"}`), "error shape.size : has 1048710 bytes; at most 1048576 are allowed"},
		"spaces":         {with(`"ui": ` + strings.Repeat(" ", flow.MaxBytes) + `{}`), ""},
		"long value":     {one(`{"type": "set", "config": {"assign": [{"var": "v", "value": [` + strings.Repeat("1,", 1000) + `1]}]}}`), "error shape.length /nodes/n/config/assign/0/value: has 1001 items; a list has at most 1000"},
		"deep value":     {one(`{"type": "set", "config": {"assign": [{"var": "v", "value": ` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}]}}`), "error value.depth /nodes/n/config/assign/0/value" + strings.Repeat("/0", 32) + ": has more than 32 levels"},
		"large template": {one(`{"type": "message", "config": {"text": "` + "{{ 1 }}" + strings.Repeat("x", 4993) + `"}}`), "error shape.length /nodes/n/config/text: has 5000 characters; the maximum is 4096 characters"},
		"large body": {
			one(`{"type": "http", "config": {"url": "https://x.example", "method": "POST", "body": {"kind": "json", "value": [` + strings.Repeat(`"`+strings.Repeat("x", 60_000)+`", `, 5) + `1]}}}`),
			"error shape.size /nodes/n/config/body/value: is larger than 256 KiB",
		},
		"large schema": {
			one(`{"type": "assistant", "config": {"model": "m/x", "output": {"mode": "json", "schema": {"x": "` + strings.Repeat("x", 32<<10) + `"}}}}`),
			"error shape.size /nodes/n/config/output/schema: has 32776 bytes; at most 32768 are allowed",
		},
		"16 loops": {loops(17), ""},
		"17 loops": {loops(18), "error loop.depth /nodes/l17: is nested in more than 16 loops"},
	} {
		_, problems := compile(t, types, []byte(c.document), nil)
		var errors []string
		for _, line := range lines(problems) {
			if strings.HasPrefix(line, "error") {
				errors = append(errors, line)
			}
		}
		require.Equal(t, c.want, strings.Join(errors, "\n"), name)
	}
}

// Durations are those of ISO 8601 that have a fixed length; sizes have units.
func TestUnits(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	ok := func(member, value string) bool {
		_, problems := compile(t, types, []byte(one(`{"type": "http", "config": {"url": "https://x.example", "`+member+`": `+value+`}}`)), nil)
		return !flow.Failed(problems)
	}
	for value, want := range map[string]bool{
		`"PT1S"`: true, `"PT60S"`: true, `"PT1M"`: true, `"PT0M1S"`: true, `"PT1.5S"`: true, `"PT0.9999S"`: false, `"PT61S"`: false, `"P0DT5S"`: true,
		`"P1D"`: false, `"1S"`: false, `"PT"`: false, `"P"`: false, `"P0DT"`: false, `"PT1S "`: false, `"pt1s"`: false, `"P1Y"`: false, `"P1M"`: false, `"PT-1S"`: false,
		`"PT99999999999999999999S"`: false, `1`: false, `null`: false, `"P999999W"`: false, `""`: false,
	} {
		require.Equal(t, want, ok("timeout", value), value)
	}
	for value, want := range map[string]bool{
		`0`: true, `1000`: true, `"1000"`: true, `"1000B"`: true, `"1KiB"`: true, `"1MiB"`: true, `1048576`: true,
		`1048577`: false, `"2MiB"`: false, `"1KB"`: false, `"1 KiB"`: false, `-1`: false, `1.5`: false, `"x"`: false, `true`: false, `"999999999999MiB"`: false,
	} {
		require.Equal(t, want, ok("maxResponse", value), value)
	}
}

// An editor offers what the expressions of a node see there.
func TestScope(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	d := decode(t, []byte(document(`"t": {"type": "trigger", "next": {"out": "l"}},
		"l": {"type": "loop", "config": {"kind": "each", "items": "[1]", "item": "row"}, "next": {"body": "b", "done": "d", "error": "e"}},
		"b": {"type": "message", "config": {"text": "x"}}, "d": {"type": "question", "config": {"saveTo": "name"}}, "e": {"type": "end"}`)))
	seen := func(node string) []string {
		var names []string
		for _, r := range expression.Completions(types.Scope(d, node)).Names {
			names = append(names, r.Name)
		}
		return names
	}
	base := []string{"chat", "contact", "input", "now", "run", "start", "vars"}
	require.Equal(t, base, seen("d"))
	require.ElementsMatch(t, append([]string{"row", "index"}, base...), seen("b"))
	require.ElementsMatch(t, append([]string{"error"}, base...), seen("e"))
	require.Nil(t, types.Scope(d, "nowhere"))
	require.Nil(t, types.Scope(nil, "d"))
}
