package expression_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

func BenchmarkEval(b *testing.B) {
	env := map[string]any{
		"vars": map[string]any{
			"age": 21, "i": 39, "name": "ana maría", "colour": "blue",
			"items": []any{map[string]any{"price": 3, "name": "a"}, map[string]any{"price": 5, "name": "b"}, map[string]any{"price": 8, "name": "c"}},
		},
	}
	for _, src := range []string{
		"vars.age >= 18",
		"vars.i < 40",
		`vars.colour == "blue" ? 10 : 5`,
		`vars.age >= 18 and vars.colour in ["red", "blue"]`,
		`vars.name matches "^[a-z ]+$"`,
		"title(vars.name)",
		"sum(vars.items, #.price)",
		"filter(vars.items, #.price > 4) | map(#.name) | join(\", \")",
	} {
		p := compile(b, src)
		b.Run(src, func(b *testing.B) {
			budget := &expression.Budget{}
			report := cpu(b)
			for b.Loop() {
				budget.Steps, budget.Bytes = expression.MaxSteps, expression.MaxBytes
				_, err := p.Eval(env, budget)
				require.NoError(b, err)
			}
			report()
		})
	}
}

func BenchmarkTemplate(b *testing.B) {
	env := map[string]any{"vars": map[string]any{"name": "Ana", "age": 21}}
	for _, src := range []string{
		"Counted to {{ vars.age }}.",
		"{{ vars.name }} is {{ vars.age }} years old.",
	} {
		t := parse(b, src)
		b.Run(src, func(b *testing.B) {
			report := cpu(b)
			for b.Loop() {
				_, err := t.Text(env, nil)
				require.NoError(b, err)
			}
			report()
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	cache := expression.NewCache(10)
	for _, src := range []string{"vars.age >= 18", "filter(vars.items, #.price > 4) | map(#.name) | join(\", \")"} {
		b.Run(src, func(b *testing.B) {
			report := cpu(b)
			for b.Loop() {
				_, err := expression.Compile(src, scope)
				require.NoError(b, err)
			}
			report()
		})
		b.Run("cached "+src, func(b *testing.B) {
			report := cpu(b)
			for b.Loop() {
				_, err := cache.Compile(src, scope)
				require.NoError(b, err)
			}
			report()
		})
	}
}
