package expression_test

import (
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

func ExampleCompile() {
	scope := expression.NewScope(map[string]expression.Type{
		"vars": {Kind: expression.Map, Fields: map[string]expression.Type{"age": {Kind: expression.Number}}},
	})
	adult, err := expression.Compile("vars.age >= 18", scope)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := adult.Eval(map[string]any{"vars": map[string]any{"age": 21}}, nil)
	fmt.Println(v, err)

	_, err = expression.Compile("vars.aeg >= 18", scope)
	if e, ok := errors.AsType[*expression.Error](err); ok {
		fmt.Println(e.Code, e.At, e.Hint)
	}
	// Output:
	// true <nil>
	// expression.unknown_member 5 did you mean age?
}

func ExampleParseTemplate() {
	scope := expression.NewScope(map[string]expression.Type{"vars": {}})
	env := map[string]any{"vars": map[string]any{"name": "ana", "items": []any{"pen", "cup"}}}
	for _, src := range []string{
		"Hello {{ title(vars.name) }}, you have {{ len(vars.items) }} things: {{ join(vars.items, \", \") }}.",
		"{{ vars.items }}",
	} {
		t, err := expression.ParseTemplate(src, scope)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := t.Render(env, nil)
		fmt.Printf("%#v %v\n", v, err)
	}
	// Output:
	// "Hello Ana, you have 2 things: pen, cup." <nil>
	// []interface {}{"pen", "cup"} <nil>
}

func ExampleBudget() {
	// A turn's evaluations share what it may spend.
	budget := &expression.Budget{Steps: 100, Bytes: 1000}
	p, err := expression.Compile("sum(1..10)", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		v, err := p.Eval(nil, budget)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v)
	}
	// Output:
	// 55
	// 55
	// 55
	// expression.steps at 5: takes more than 7 steps
}
