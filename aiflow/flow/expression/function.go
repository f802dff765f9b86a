package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Function describes a function for editors and documentation.
type Function struct {
	Name      string `json:"name"`
	Signature string `json:"signature"` // "split(text: text, separator: text): list"
	Text      string `json:"text"`      // one sentence
	Group     string `json:"group"`     // "text", "list", "number", "date", "value"
}

// function is a function with the data that the compiler and the machine need. It
// is declared by its signature: name(param: kind, optional?: kind, ...rest: kind):
// kind. Kinds are text, number, boolean, date, list, object, any and pattern (a
// literal regular expression), joined by |.
type function struct {
	Function
	params   []param
	required int
	variadic bool
	result   Kind
	run      func(m *machine, at int, args []any) (any, error)
}

type param struct {
	name  string
	kind  Kind
	regex bool
}

// limit returns the maximum number of arguments.
func (f *function) limit() int {
	if f.variadic {
		return MaxNodes
	}
	return len(f.params)
}

// param returns the declaration of argument i.
func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

// call is a call of a function.
type call struct {
	f    *function
	args []node
	at   int
}

func (n *call) eval(m *machine) (any, error) {
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	base := len(m.args)
	for _, arg := range n.args {
		v, err := arg.eval(m)
		if err != nil {
			return nil, err
		}
		m.args = append(m.args, v)
	}
	args := m.args[base:]
	v, err := n.apply(m, args)
	m.args = m.args[:base]
	return v, err
}

// apply calls the function with arguments of the declared kinds. Nothing for a list
// is an empty list. Nothing for a required text, number or date makes the result
// nothing.
func (n *call) apply(m *machine, args []any) (any, error) {
	for i, v := range args {
		p := n.f.param(i)
		if p.regex || p.kind == Any {
			continue
		}
		if v == nil {
			if p.kind&List != 0 {
				args[i] = []any(nil)
			} else if i < n.f.required {
				return nil, nil
			}
			continue
		}
		if kindOf(v)&p.kind == 0 {
			return nil, n.wrongArgument(p, v)
		}
	}
	return n.f.run(m, n.at, args)
}

func (n *call) wrongArgument(p param, v any) *Error {
	err := fail(CodeType, n.at, "passes a %s to %s as %s", kindOf(v), n.f.Name, p.name)
	switch {
	case p.kind == Text:
		return err.hint("write string(…)")
	case p.kind == Number:
		return err.hint("write number(…)")
	}
	return err.hint("the signature is %s", n.f.Signature)
}

// Getters of argument i in its declared kind; the zero value if it is missing.

func textArg(args []any, i int, missing string) string {
	if i < len(args) {
		if s, ok := args[i].(string); ok {
			return s
		}
	}
	return missing
}

func listArg(args []any, i int) []any {
	if i < len(args) {
		list, _ := args[i].([]any)
		return list
	}
	return nil
}

// wholeArg returns the second argument, a number that must be whole.
func wholeArg(args []any, missing, at int, what string) (int, error) {
	if len(args) < 2 || args[1] == nil {
		return missing, nil
	}
	n, ok := whole(args[1])
	if !ok {
		return 0, fail(CodeValue, at, "%s must be a whole number", what)
	}
	return n, nil
}

// functions returns all functions by name. It builds them when first called.
var functions = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, group := range []struct {
		name      string
		functions []declared
	}{
		{"text", textFunctions},
		{"list", listFunctions},
		{"number", numberFunctions},
		{"date", dateFunctions},
		{"value", valueFunctions},
	} {
		for _, d := range group.functions {
			f := declare(d)
			f.Group = group.name
			all[f.Name] = f
		}
	}
	return all
})

// declared is a function as it is written in the tables of this package.
type declared struct {
	signature string
	text      string
	run       func(m *machine, at int, args []any) (any, error)
}

func declare(d declared) *function {
	name, rest, _ := strings.Cut(d.signature, "(")
	params, result, ok := strings.Cut(rest, "): ")
	if !ok {
		panic(fmt.Sprintf("expression: the signature %q cannot be read", d.signature))
	}
	f := &function{Function: Function{Name: name, Signature: d.signature, Text: d.text}, result: kindNamed(result), run: d.run}
	for _, p := range strings.Split(params, ", ") {
		name, kind, _ := strings.Cut(p, ": ")
		name, f.variadic = strings.CutPrefix(name, "...")
		name, optional := strings.CutSuffix(name, "?")
		if !optional && !f.variadic {
			f.required++
		}
		f.params = append(f.params, param{name, kindNamed(kind), kind == "pattern"})
	}
	return f
}

// kindNamed parses the kind in a signature.
func kindNamed(names string) Kind {
	kind := Kind(0)
	for _, name := range strings.Split(names, "|") {
		switch name {
		case "any":
			kind |= Any
		case "pattern":
			kind |= Text
		}
		for _, k := range kindNames {
			if k.name == name {
				kind |= k.kind
			}
		}
	}
	if kind == 0 {
		panic(fmt.Sprintf("expression: there is no kind %q", names))
	}
	return kind
}

func sortedFunctions() []string { return slices.Sorted(maps.Keys(functions())) }
