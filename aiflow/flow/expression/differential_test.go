package expression_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/require"
)

// author makes expressions that expr-lang/expr gives a value too.
type author struct {
	*rand.Rand
	depth int // of predicates: # exists above 0
}

func (a *author) one(options ...func(n int) string) func(n int) string {
	return options[a.IntN(len(options))]
}

func (a *author) number(n int) string {
	if n <= 0 {
		if a.depth > 0 && a.IntN(2) == 0 {
			return "#"
		}
		return []string{"0", "1", "7", "vars.age", "vars.deep.n", `vars["age"]`, "len(vars.name)", "vars.list[1]"}[a.IntN(8)]
	}
	return a.one(
		func(n int) string { return fmt.Sprintf("(%s + %s)", a.number(n), a.number(n)) },
		func(n int) string { return fmt.Sprintf("(%s - %s)", a.number(n), a.number(n)) },
		func(n int) string { return fmt.Sprintf("(%s * 3)", a.number(n)) },
		func(n int) string { return fmt.Sprintf("(%s %% 5)", a.number(n)) },
		func(n int) string { return fmt.Sprintf("(%s / 2)", a.number(0)) },
		func(n int) string { return fmt.Sprintf("-%s", a.number(n)) },
		func(n int) string { return fmt.Sprintf("abs(%s)", a.number(n)) },
		func(n int) string { return fmt.Sprintf("max(%s, %s)", a.number(n), a.number(n)) },
		func(n int) string { return fmt.Sprintf("len(%s)", a.text(n)) },
		func(n int) string { return fmt.Sprintf("sum(%s)", a.list(n)) },
		func(n int) string { return fmt.Sprintf("count(%s, %s)", a.list(n), a.within(n, a.truth)) },
		func(n int) string { return fmt.Sprintf("reduce(%s, #acc + #, 10)", a.list(n)) },
		func(n int) string { return fmt.Sprintf("(%s ? %s : %s)", a.truth(n), a.number(n), a.number(n)) },
		func(n int) string { return fmt.Sprintf("(let v%d = %s; v%d + 1)", n, a.number(n), n) },
	)(n - 1)
}

func (a *author) truth(n int) string {
	if n <= 0 {
		return []string{"true", "false", "vars.yes", "vars.no"}[a.IntN(4)]
	}
	return a.one(
		func(n int) string { return fmt.Sprintf("(%s and %s)", a.truth(n), a.truth(n)) },
		func(n int) string { return fmt.Sprintf("(%s || %s)", a.truth(n), a.truth(n)) },
		func(n int) string { return fmt.Sprintf("not %s", a.truth(n)) },
		func(n int) string {
			return fmt.Sprintf("%s %s %s", a.number(n), []string{"<", "<=", ">", ">=", "==", "!="}[a.IntN(6)], a.number(n))
		},
		func(n int) string {
			return fmt.Sprintf("(%s %s %s)", a.text(n), []string{"<", "==", "!=", "contains", "startsWith", "endsWith"}[a.IntN(6)], a.text(n))
		},
		func(n int) string { return fmt.Sprintf("(%s in %s)", a.number(n), a.list(n)) },
		func(n int) string { return fmt.Sprintf("(%s matches '^[A-Za-z]+$')", a.text(n)) },
		func(n int) string { return fmt.Sprintf("(0 < %s < 9)", a.number(n)) },
		func(n int) string {
			return fmt.Sprintf("%s(%s, %s)", []string{"all", "any", "none", "one"}[a.IntN(4)], a.list(n), a.within(n, a.truth))
		},
	)(n - 1)
}

func (a *author) text(n int) string {
	if n <= 0 {
		return []string{`"abc"`, `''`, "vars.name", "vars.deep.t", "`b c`"}[a.IntN(5)]
	}
	return a.one(
		func(n int) string { return fmt.Sprintf("(%s + %s)", a.text(n), a.text(n)) },
		func(n int) string { return fmt.Sprintf("upper(%s)", a.text(n)) },
		func(n int) string { return fmt.Sprintf("(%s | lower() | trim())", a.text(n)) },
		func(n int) string { return fmt.Sprintf("join(split(%s, 'b'), '-')", a.text(n)) },
		func(n int) string { return fmt.Sprintf("replace(%s, 'a', 'xy')", a.text(n)) },
		func(n int) string { return fmt.Sprintf("repeat(%s, 2)", a.text(0)) },
		func(n int) string { return fmt.Sprintf("(%s)[0:2]", a.text(n)) },
		func(n int) string { return fmt.Sprintf("(%s ? %s : %s)", a.truth(n), a.text(n), a.text(n)) },
	)(n - 1)
}

func (a *author) list(n int) string {
	if n <= 0 {
		return []string{"vars.list", "[]", "[1, 2, 3]", "1..4"}[a.IntN(4)]
	}
	return a.one(
		func(n int) string { return fmt.Sprintf("filter(%s, %s)", a.list(n), a.within(n, a.truth)) },
		func(n int) string { return fmt.Sprintf("map(%s, %s)", a.list(n), a.within(n, a.number)) },
		func(n int) string { return fmt.Sprintf("sort(%s)", a.list(n)) },
		func(n int) string { return fmt.Sprintf("reverse(%s)", a.list(n)) },
		func(n int) string { return fmt.Sprintf("(%s)[1:]", a.list(n)) },
		func(n int) string { return fmt.Sprintf("[%s, %s]", a.number(n), a.number(n)) },
		func(n int) string { return fmt.Sprintf("sortBy(%s, -#)", a.list(n)) },
	)(n - 1)
}

// within writes a predicate.
func (a *author) within(n int, write func(int) string) string {
	a.depth++
	defer func() { a.depth-- }()
	return write(n)
}

// Where expr-lang/expr has a value, ours is the same: who knows its language
// knows this one. The differences are those of the package's documentation:
// here a number that is whole is written without a fraction.
func TestAsExprLang(t *testing.T) {
	t.Parallel()
	env := map[string]any{"vars": map[string]any{
		"age": 21, "name": "Ana", "yes": true, "no": false, "list": []any{3, 1, 2}, "deep": map[string]any{"n": 5, "t": "x y"},
	}}
	a := &author{Rand: rand.New(rand.NewPCG(1, 2))}
	same := 0
	for i := range 3000 {
		src := []func(int) string{a.number, a.truth, a.text, a.list}[i%4](1 + i%4)
		if len(src) > 1500 {
			continue
		}
		want, err := expr.Eval(src, env)
		if err != nil { // such as the parts of a list that has become []int
			continue
		}
		p, err := compileErr(src)
		require.NoError(t, err, src)
		got, err := p.Eval(env, nil)
		require.NoError(t, err, src)
		require.Equal(t, asJSON(t, want), asJSON(t, got), src)
		same++
	}
	require.Greater(t, same, 2000)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.ReplaceAll(string(out), "-0", "0")
}
