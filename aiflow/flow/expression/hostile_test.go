package expression_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// hostile is an expression that wants too much. stop is the code of the error
// that ends it; "" means that it is harmless and must end by itself.
type hostile struct {
	name, src, stop string
}

// The whole file is about what an author, or what a stranger wrote into a
// variable, can make an evaluation cost.
var hostiles = []hostile{
	// memory
	{"repeat", `repeat("a", 1000000000)`, expression.CodeBytes},
	{"repeat of a long text", `repeat(vars.text, 60000)`, expression.CodeBytes},
	{"repeat beyond an int", `repeat("aaaa", 9223372036854775807)`, expression.CodeBytes},
	{"repeat of repeats", `repeat(repeat(repeat("a", 1000), 1000), 1000)`, expression.CodeBytes},
	{"doubling", `reduce(1..100, #acc + #acc, "x")`, expression.CodeBytes},
	{"doubling by replace", `reduce(1..100, replace(#acc, "x", "xx"), "x")`, expression.CodeBytes},
	{"doubling by let", doublings(40), expression.CodeBytes},
	{"quadratic concat", `reduce(1..2000, #acc + "aaaaaaaa", "")`, expression.CodeBytes},
	{"doubling a list", `reduce(1..100, concat(#acc, #acc), [1])`, expression.CodeBytes},
	{"doubling a structure", `json(reduce(1..30, [#acc, #acc], 1))`, expression.CodeSteps},
	{"growing objects", `reduce(1..2000, merge(#acc, {(string(#)): #}), {})`, expression.CodeBytes},
	{"padding", `padStart("a", 9223372036854775807)`, expression.CodeBytes},
	{"padding with a long text", `padStart("a", 60000, vars.page)`, expression.CodeBytes},
	{"replace", `replace(vars.page, "a", vars.page)`, expression.CodeBytes},
	{"join", `join(vars.list, vars.text)`, expression.CodeBytes},
	{"join of structures", `join(map(1..100, vars.list))`, expression.CodeSteps},
	{"split", `split(vars.page, "")`, expression.CodeBytes},
	{"capital letters", `upper(vars.page)`, expression.CodeBytes},
	{"address", `urlEncode(vars.page)`, expression.CodeBytes},
	{"a long list as JSON", `json(vars.list)`, expression.CodeSteps},
	{"a long text as JSON", `json(vars.page)`, expression.CodeBytes},
	{"control characters as JSON", `json(repeat("\x01", 20000))`, expression.CodeBytes},
	{"reading JSON", `parseJSON(vars.json)`, expression.CodeSteps},
	{"a list of lists in JSON", `parseJSON("[" + repeat("[],", 8000) + "1]")`, expression.CodeBytes},
	{"mapping a long list", `map(vars.list, #)`, expression.CodeBytes},
	{"sorting a long list", `sort(vars.list)`, expression.CodeBytes},
	{"reversing a long list", `reverse(vars.list)`, expression.CodeBytes},
	{"a long list twice", `concat(vars.list, vars.list)`, expression.CodeBytes},
	{"keys of a large object", `keys(vars.object)`, expression.CodeBytes},
	{"merging large objects", `merge(vars.object, vars.object)`, expression.CodeBytes},
	{"a range", `1..1000000000`, expression.CodeBytes},
	{"the greatest range", `(0-9223372036854775807)..9223372036854775807`, expression.CodeBytes},
	{"a range of floats", `0..9e18`, expression.CodeBytes},
	{"ranges in a list", `[1..1000, 1..1000, 1..1000]`, expression.CodeBytes},
	{"layout", `formatDate(now, repeat("MMMM", 3000))`, expression.CodeBytes},
	{"text of a structure", `string(vars.list)`, expression.CodeSteps},
	{"groups", `groupBy(1..1500, #)`, expression.CodeBytes},

	// time
	{"predicates in predicates", `let l = 1..20; any(l, any(l, any(l, any(l, # > 20))))`, expression.CodeSteps},
	{"counting in counts", `let l = 1..500; sum(l, sum(l, sum(l)))`, expression.CodeSteps},
	{"a predicate over a long list", `count(vars.list, # > 1)`, expression.CodeSteps},
	{"the greatest of a long list", `max(vars.list)`, expression.CodeSteps},
	{"the mean of a long list", `avg(vars.list)`, expression.CodeSteps},
	{"comparing long lists", `vars.list == vars.list`, expression.CodeSteps},
	{"comparing large objects", `vars.object == vars.object`, expression.CodeSteps},
	{"looking through a long list", `-1 in vars.list`, expression.CodeSteps},
	{"looking through a long text", `vars.text contains "b"`, expression.CodeSteps},
	{"comparing long texts", `vars.text == vars.text`, expression.CodeSteps},
	{"ordering long texts", `vars.text < vars.text`, expression.CodeSteps},
	{"length of a long text", `len(vars.text)`, expression.CodeSteps},
	{"characters of a long text", `vars.text[5]`, expression.CodeSteps},
	{"a part of a long text", `vars.text[5:9]`, expression.CodeSteps},
	{"position in a long text", `indexOf(vars.text, "b")`, expression.CodeSteps},
	{"a pattern on a long text", `vars.text matches "(a*)*b"`, expression.CodeSteps},
	{"a large pattern", `repeat("a", 30000) matches "(a|aa|aaa|[ab]){80}c"`, expression.CodeSteps},
	{"capture", `capture(vars.text, "(a+)+$", 1)`, expression.CodeSteps},
	{"a pattern in a loop", `let t = repeat("a", 2000); count(1..1000, t matches "(a?){40}a{40}b")`, expression.CodeSteps},
	{"unique", `unique(1..500)`, expression.CodeSteps},
	{"sorting long texts", `let t = repeat("a", 5000); sort(map(1..300, t))`, expression.CodeSteps},
	{"sorting in a loop", `let l = 1..300; count(1..300, len(sortBy(l, -#)) > 0)`, expression.CodeSteps},
	{"time zones", `count(1..1000, formatDate(now, "H", "Europe/Madrid") == "")`, expression.CodeSteps},
	{"number of a long text", `number(vars.text)`, expression.CodeSteps},
	{"a long path", `get(vars.deep, repeat("a.", 12000))`, expression.CodeSteps},
	{"searching repeatedly", `let t = repeat("a", 30000); count(1..1000, t contains "b")`, expression.CodeSteps},

	// depth
	{"deep JSON", `parseJSON(repeat("[", 20000))`, expression.CodeValue},
	{"deep objects in JSON", `parseJSON(repeat("{\"a\":", 5000))`, expression.CodeValue},
	{"a deep value as JSON", `json(vars.deep)`, expression.CodeValue},
	{"a deep value as text", `string(vars.deep)`, expression.CodeValue},
	{"comparing deep values", `vars.deep == vars.deeper`, expression.CodeValue},
	{"a value that holds itself", `json(vars.self)`, expression.CodeValue},
	{"comparing values that hold themselves", `vars.self == vars.self`, expression.CodeValue},
	{"searching values that hold themselves", `vars.self in [vars.self]`, expression.CodeValue},
	{"building depth", `[reduce(1..100, [#acc], 1), now]`, expression.CodeValue},

	// the text of the expression
	{"brackets", strings.Repeat("(", 999) + "1" + strings.Repeat(")", 999), ""},
	{"brackets that are not closed", strings.Repeat("(", 2000), expression.CodeSyntax},
	{"lists in lists", strings.Repeat("[", 400) + strings.Repeat("]", 400), ""},
	{"open lists", strings.Repeat("[", 2000), expression.CodeSyntax},
	{"objects in objects", strings.Repeat("{a:", 160) + "1" + strings.Repeat("}", 160), ""},
	{"negations", strings.Repeat("!", 498) + "true", ""},
	{"too many negations", strings.Repeat("!", 1990) + "true", expression.CodeTooManyNodes},
	{"signs", strings.Repeat("-", 498) + "1", ""},
	{"chained comparisons in each other", nested("1<", "<1", 80), ""},
	{"alternatives in each other", nested("", "?:nil", 150), ""},
	{"decisions in each other", nested("true?", ":1", 150), ""},
	{"powers", strings.Repeat("1**", 240) + "1", ""},
	{"members", "vars" + strings.Repeat(".a", 240), ""},
	{"predicates within each other", strings.Repeat("map([1],", 100) + "#" + strings.Repeat(")", 100), ""},
	{"a list of predicates", "let l = 1..9; " + strings.Repeat("any(l,", 100) + "false" + strings.Repeat(")", 100), expression.CodeSteps},
	{"nested calls", strings.Repeat("trim(", 240) + `"a"` + strings.Repeat(")", 240), ""},
	{"let in let", strings.Repeat("let a=1;", 200) + "a", ""},
	{"a long name", strings.Repeat("a", 2000), expression.CodeUnknownName},
	{"a pattern that repeats", `"a" matches "((((a{10}){10}){10}){10}){10}"`, expression.CodeRegex},
	{"a pattern of alternatives", `"a" matches "` + strings.Repeat("(a|b)", 380) + `"`, expression.CodeRegex},
	{"a deep pattern", `"a" matches "` + strings.Repeat("(", 400) + strings.Repeat(")", 400) + `"`, ""},
	{"a large class", `"a" matches "[\\p{L}\\p{N}]{200}"`, ""},

	// what must not be there
	{"methods", `now.Year()`, expression.CodeUnknownFunction},
	{"fields", `now.wall`, expression.CodeType},
	{"methods by name", `vars.foreign["String"]`, expression.CodeType},
	{"the environment", `$env`, expression.CodeUnknownName},
	{"other builtins", `toJSON(vars)`, expression.CodeUnknownFunction},
	{"global builtins", `::now()`, expression.CodeUnknownFunction},
	{"files as time zones", `formatDate(now, "H", "../../../etc/passwd")`, expression.CodeValue},
}

// doublings returns a let for each doubling of a text.
func doublings(n int) string {
	var b strings.Builder
	b.WriteString(`let a0 = "aaaa"; `)
	for i := range n {
		fmt.Fprintf(&b, "let a%d = a%d + a%d; ", i+1, i, i)
	}
	fmt.Fprintf(&b, "len(a%d)", n)
	return b.String()
}

func nested(before, after string, depth int) string {
	return strings.Repeat("("+before, depth) + "nil" + strings.Repeat(after+")", depth)
}

func hostileEnv() map[string]any {
	list := make([]any, 200_000)
	object := make(map[string]any, 50_000)
	for i := range list {
		list[i] = i
	}
	for i := range 50_000 {
		object[fmt.Sprintf("key%d", i)] = i
	}
	self := map[string]any{}
	self["self"] = self
	return map[string]any{"now": now, "vars": map[string]any{
		"text": strings.Repeat("a", 4<<20), "page": strings.Repeat("a", 100_000), "json": "[" + strings.Repeat("[],", 20_000) + "1]", "list": list, "object": object,
		"deep": deep(10_000), "deeper": deep(10_001), "self": self, "foreign": now.Location(),
	}}
}

func deep(levels int) any {
	var v any = 1
	for range levels {
		v = map[string]any{"a": v}
	}
	return v
}

// attack compiles and evaluates, with a budget that a turn might have left.
func attack(src string, env map[string]any) (*expression.Budget, error) {
	budget := &expression.Budget{Steps: 1_000_000, Bytes: 8 << 20}
	p, err := expression.Compile(src, scope)
	if err != nil {
		return budget, err
	}
	_, err = p.Eval(env, budget)
	return budget, err
}

// Each attack ends by the limit that it is about, and nothing big is made on
// the way. The test is not parallel: it counts all that the process allocates.
func TestHostileExpressions(t *testing.T) {
	env := hostileEnv()
	const limit = 8 << 20
	for _, h := range hostiles {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		budget, err := attack(h.src, env)
		runtime.ReadMemStats(&after)
		if h.stop == "" {
			if err != nil { // it may be wrong, but it is not too much
				require.Contains(t, []string{expression.CodeType, expression.CodeOverflow}, wrong(t, err).Code, "%s: %v", h.name, err)
			}
		} else {
			require.Error(t, err, h.name)
			require.Equal(t, h.stop, wrong(t, err).Code, "%s: %v", h.name, err)
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(limit), h.name)
		require.GreaterOrEqual(t, budget.Steps, 1_000_000-expression.MaxSteps, h.name)
		require.GreaterOrEqual(t, budget.Bytes, 8<<20-expression.MaxBytes, h.name)
	}
}

// The same for templates: all expressions of one spend together.
func TestHostileTemplates(t *testing.T) {
	env := hostileEnv()
	for src, stop := range map[string]string{
		strings.Repeat(`{{ repeat("a", 1000) }}`, 100):    expression.CodeBytes,
		strings.Repeat(`{{ count(1..100, # > 0) }} `, 60): expression.CodeSteps,
		"{{ vars.text }} ": expression.CodeBytes,
		"{{ vars.deep }} ": expression.CodeValue,
		"{{ vars.list }} ": expression.CodeSteps,
		strings.Repeat("a", 60_000) + "{{ repeat('a', 6000) }}": expression.CodeBytes,
		strings.Repeat("{{{{", expression.MaxTemplate/4):        "",
		strings.Repeat(`{{ 1 }}`, 500):                          "",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tpl := parse(t, src)
		_, err := tpl.Render(env, nil)
		runtime.ReadMemStats(&after)
		if stop == "" {
			require.NoError(t, err)
		} else {
			require.Error(t, err, src[:min(20, len(src))])
			require.Equal(t, stop, wrong(t, err).Code, src[:min(20, len(src))])
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), src[:min(20, len(src))])
	}
}

// A turn's budget is what its evaluations share; the one that finds too little
// fails, and so do all after it that need more than is left.
func TestBudgetOfATurn(t *testing.T) {
	t.Parallel()
	p := compile(t, `count(1..10, # > 5)`)
	budget := &expression.Budget{Steps: 150, Bytes: 10_000}
	env := map[string]any{}
	done := 0
	for range 100 {
		if _, err := p.Eval(env, budget); err != nil {
			require.Equal(t, expression.CodeSteps, wrong(t, err).Code)
			break
		}
		done++
	}
	require.Equal(t, 3, done)
	require.Zero(t, budget.Steps)
	_, err := compile(t, "vars.a").Eval(env, budget)
	require.Equal(t, expression.CodeSteps, wrong(t, err).Code)

	budget = &expression.Budget{Steps: 1000, Bytes: 10}
	_, err = compile(t, `"12345" + "67890" + "1"`).Eval(env, budget)
	require.Equal(t, expression.CodeBytes, wrong(t, err).Code)
	require.GreaterOrEqual(t, budget.Steps, 900)
	_, err = compile(t, `1`).Eval(env, &expression.Budget{Steps: -5, Bytes: -5})
	require.NoError(t, err)
}

func BenchmarkHostile(b *testing.B) {
	env := hostileEnv()
	for _, h := range hostiles {
		b.Run(h.name, func(b *testing.B) {
			report := cpu(b)
			for b.Loop() {
				_, _ = attack(h.src, env)
			}
			report()
		})
	}
}
