// Package expression is the language of values in flows: `vars.age >= 18` in a
// condition, `Hello {{ title(vars.name) }}` in a text. It uses the syntax and
// parser of expr-lang/expr and its own evaluator, which counts every step and every
// byte, and cannot reach anything of Go.
//
// It is not a programming language: it has no assignment, no user-defined
// functions, no clock, no input or output, and no randomness. The same environment
// always yields the same value.
//
//	scope := expression.NewScope(map[string]expression.Type{"vars": {Kind: expression.Map}})
//	adult, err := expression.Compile("vars.age >= 18", scope)
//	...
//	v, err := adult.Eval(map[string]any{"vars": map[string]any{"age": 21}}, nil)
//
// # Values
//
// Values are those of JSON: nil, bool, int, float64, string, []any and
// map[string]any. A whole number is an int with 64 bits; an overflow is an error.
// Dividing two integers yields an integer if there is no remainder. An environment
// may also have int64, json.Number and time.Time. Dates are a kind of their own
// within an expression and leave it as RFC 3339 texts. A text with a date but no
// time zone is read in the zone of `now`.
//
// Nothing (nil) is forgiving. A member of nothing is nothing, and so is an element
// outside of a list. Nothing equals only nothing and is neither less nor greater
// than any value. As a condition it is false, and in a text it is empty. A function
// that gets nothing instead of a text, number or date returns nothing.
//
// Texts are UTF-8: len, positions and slices count characters (code points).
//
// # Ownership
//
// Values are shared and never modified: a result may be a part of the environment.
// Programs and templates are immutable and safe for concurrent use.
package expression
