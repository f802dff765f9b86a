// Package expression is the language of values in flows: `vars.age >= 18` in a
// condition, `Hello {{ title(vars.name) }}` in a text. It reads the syntax of
// expr-lang/expr and evaluates it itself, so that every step and every byte is
// counted and nothing of Go can be reached.
//
// It is not a programming language: no assignment, no functions of one's own,
// no clock, no input or output, no randomness. The same environment gives the
// same value, always.
//
//	scope := expression.NewScope(map[string]expression.Type{"vars": {Kind: expression.Map}})
//	adult, err := expression.Compile("vars.age >= 18", scope)
//	...
//	v, err := adult.Eval(map[string]any{"vars": map[string]any{"age": 21}}, nil)
//
// # Values
//
// Values are those of JSON: nil, bool, int, float64, string, []any and
// map[string]any. A whole number is an int and exact to 64 bits; arithmetic
// that leaves them is an error, not another number. An integer divided by an
// integer is an integer when it divides without rest. An environment may hold
// int64, json.Number and time.Time too. Dates are a kind of their own while an
// expression runs and leave it as RFC 3339 texts. A text that is a date without
// a time zone is read in the zone of `now`.
//
// Nothing (nil) is forgiving: a member of nothing is nothing, an element
// outside a list is nothing, nothing equals only nothing and is neither less
// nor more than anything, as a condition it is false, in a text it is empty,
// and a function given nothing for a text, number or date gives nothing.
//
// Texts are UTF-8: len, positions and slices count characters (code points).
//
// # Ownership
//
// Values are shared and never changed: a result may be a part of the
// environment. Programs and templates are immutable and safe for concurrent
// use.
package expression
