package expression_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// seeds are expressions of every kind.
func seeds() []string {
	all := []string{`vars.age >= 18`, `let x = 1..3; map(x, # * #index) | sum()`, `{a: [1, {b: "}}"}]}.a[-1]?.b`, `1 < 2 <= 3`, `vars.x ?: (vars.y ?? 2) ?: 3`, "`raw` + 'x' /* y */", `if true {1} else {2}`, `"a" not matches "^\\d"`, `now > "2026-01-01" and not (1 in [1])`, `reduce(vars.list, #acc + #, 0)`}
	for _, cases := range functionCases {
		for src := range cases {
			all = append(all, src)
		}
	}
	for _, h := range hostiles {
		all = append(all, h.src)
	}
	return all
}

// Whatever is written, it is compiled or refused with a place within it,
// evaluated or stopped within the budget, the same way twice, and the result
// is JSON.
func FuzzExpression(f *testing.F) {
	for _, src := range seeds() {
		f.Add(src, `{"x": [1, "a", null, {"b": 2.5}], "age": 21}`)
	}
	f.Fuzz(func(t *testing.T, src, env string) {
		var values map[string]any
		d := json.Unmarshal([]byte(env), &values)
		if d != nil {
			values = map[string]any{"list": []any{3, 1, 2}, "text": env}
		}
		p, err := expression.Compile(src, scope)
		if err != nil {
			refused(t, src, err)
			return
		}
		v := evaluated(t, src, p.Eval, values)
		again := evaluated(t, src, p.Eval, values)
		require.Equal(t, v, again)
	})
}

func FuzzTemplate(f *testing.F) {
	for _, src := range seeds() {
		f.Add("{{ " + src + " }}")
		f.Add("a {{" + src + "}}{{{{ }}")
	}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := expression.ParseTemplate(src, scope)
		if err != nil {
			refused(t, src, err)
			return
		}
		values := map[string]any{"list": []any{3, 1, 2}, "name": "Ana"}
		v := evaluated(t, src, tpl.Render, values)
		evaluated(t, src, func(env map[string]any, b *expression.Budget) (any, error) { return tpl.Text(env, b) }, values)
		if tpl.Constant() {
			require.IsType(t, "", v)
		}
	})
}

func refused(t *testing.T, src string, err error) {
	t.Helper()
	e := wrong(t, err)
	require.NotEqual(t, expression.CodeInternal, e.Code, src)
	require.GreaterOrEqual(t, e.At, 0)
	require.LessOrEqual(t, e.At, len(src))
	require.True(t, utf8.ValidString(e.Message) || !utf8.ValidString(src))
}

func evaluated(t *testing.T, src string, eval func(map[string]any, *expression.Budget) (any, error), values map[string]any) any {
	t.Helper()
	budget := &expression.Budget{Steps: 50_000, Bytes: 1 << 20}
	v, err := eval(map[string]any{"vars": values, "now": now, "item": 5, "typed": map[string]any{"name": "a"}}, budget)
	require.GreaterOrEqual(t, budget.Steps, 50_000-expression.MaxSteps)
	require.GreaterOrEqual(t, budget.Bytes, 1<<20-expression.MaxBytes)
	if err != nil {
		refused(t, src, err)
		return nil
	}
	if _, err := json.Marshal(v); err != nil { // only what is too deep for it
		require.NotContains(t, err.Error(), "unsupported value")
	}
	return v
}
