package expression_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	env := map[string]any{"vars": vars(), "now": now}
	for src, want := range map[string]any{
		"":                                      "",
		"plain":                                 "plain",
		"Hi {{ vars.name }}!":                   "Hi Ana María!",
		"{{vars.age}}{{ vars.half }}":           "210.5",
		"n {{ vars.x }}.":                       "n .",
		"{{ 3.0 }} {{ 6 / 4 }} {{ 1e21 }}":      "3 1.5 1e+21",
		"{{ vars.yes }} ":                       "true ",
		"{{ vars.list }}, {{ {b: nil, a: 1} }}": `[3,1,2], {"a":1,"b":null}`,
		"at {{ now }}":                          "at 2026-03-15T10:30:00Z",

		// one expression keeps its kind
		"{{ vars.age }}": 21, "{{ vars.x }}": nil, "{{ vars.list }}": []any{3, 1, 2}, "{{ vars.age >= 18 }}": true, "{{ now }}": "2026-03-15T10:30:00Z", "{{ {a: {b: 1}} }}": map[string]any{"a": map[string]any{"b": 1}}, "{{{a: 1}}}": map[string]any{"a": 1},
		" {{ vars.age }}": " 21",

		// braces
		"{{{{ x }}": "{{ x }}", "{{{{{{ vars.age }}": "{{21", "a } b }} {c}": "a } b }} {c}", "{ {x} }": "{ {x} }", "{{ '}}' }}{{ \"{{\" }}": "}}{{", "{{ '\\'}}' }}.": "'}}.", "{{ `\\` }}.": "\\.", "{{ {a: '}'}.a }}{": "}{", "{": "{", "é{{{{": "é{{",
	} {
		tpl := parse(t, src)
		got, err := tpl.Render(env, nil)
		require.NoError(t, err, src)
		require.Equal(t, want, got, src)
		text, err := tpl.Text(env, nil)
		require.NoError(t, err, src)
		require.Equal(t, expression.Format(want), text, src)
		require.Equal(t, !strings.Contains(strings.ReplaceAll(src, "{{{{", ""), "{{"), tpl.Constant(), src)
	}
}

// Errors count from the beginning of the template, in bytes.
func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, code string
		at        int
	}{
		{"é {{ nwo }}", expression.CodeUnknownName, 6},
		{"{{ vars.age }} {{ 1 + }}", expression.CodeSyntax, 21},
		{"a {{ vars.age", expression.CodeSyntax, 2},
		{"a {{ 'x }}", expression.CodeSyntax, 2},
		{"a {{ {a: 1 }}", expression.CodeSyntax, 2},
		{"a {{ }}", expression.CodeSyntax, 4},
		{"a {{}}", expression.CodeSyntax, 4},
		{"é\xff", expression.CodeSyntax, 2},
		{"ok {{ " + strings.Repeat("1", 2001) + " }}", expression.CodeTooLong, 5},
		{strings.Repeat("a", expression.MaxTemplate+1), expression.CodeTooLong, 0},
		{strings.Repeat("{{1}}", expression.MaxNodes+2), expression.CodeTooManyNodes, 2500},
	} {
		_, err := expression.ParseTemplate(c.src, scope)
		e := wrong(t, err)
		require.Equal(t, c.code, e.Code, e)
		require.Equal(t, c.at, e.At, e)
	}
	for _, c := range []struct {
		src, code string
		at        int
	}{
		{"é {{ vars.age / 0 }}", expression.CodeDivisionByZero, 15},
		{"{{ vars.age / 0 }}", expression.CodeDivisionByZero, 12},
	} {
		_, err := parse(t, c.src).Render(map[string]any{"vars": vars()}, nil)
		e := wrong(t, err)
		require.Equal(t, c.code, e.Code)
		require.Equal(t, c.at, e.At)
	}
}

func TestTemplateType(t *testing.T) {
	t.Parallel()
	require.Equal(t, expression.Number, parse(t, "{{ typed.age }}").Type().Kind)
	require.Equal(t, expression.Text, parse(t, "{{ typed.age }} ").Type().Kind)
	require.Equal(t, expression.Text, parse(t, "").Type().Kind)
}
