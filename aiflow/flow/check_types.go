package flow

import (
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// holds are the kinds of values that a declared type takes, as [conform] has
// it: texts of numbers become numbers and the other way round.
var holds = map[string]expression.Kind{
	"string": expression.Text | expression.Number | expression.Bool | expression.Date,
	"number": expression.Number | expression.Text, "integer": expression.Number | expression.Text,
	"boolean": expression.Bool | expression.Text, "date": expression.Date | expression.Text, "datetime": expression.Date | expression.Text,
	"list": expression.List, "object": expression.Map,
}

// holdable says whether a value of one of the kinds may become one of a declared
// type. Kind 0 is any, and nothing fits every type.
func holdable(kind expression.Kind, declared string) bool {
	takes, known := holds[declared]
	return !known || kind == 0 || kind&(takes|expression.Nothing) != 0
}

// kind is what is known of a value before it is rendered.
func (d Data) Kind() expression.Kind {
	switch {
	case d.root == nil:
		return 0
	case d.root.template != nil:
		return d.root.template.Type().Kind
	}
	switch d.Source.Kind {
	case KindString:
		return expression.Text
	case kindNumber:
		return expression.Number
	case kindBool:
		return expression.Bool
	case kindArray:
		return expression.List
	case KindObject:
		return expression.Map
	}
	return expression.Nothing
}

// Saves reports a variable, or a place in one, that cannot take a value of
// the given kinds (0: any), because it is declared to hold others. It is for
// members with the tag writes.
func (c *Checker) Saves(path string, kind expression.Kind, at ...any) {
	name, rest := CutPath(path)
	switch {
	case rest == "":
	case rest[0] == '.':
		kind = expression.Map
	default:
		kind = expression.List
	}
	if declared := c.Document.Variables[name].Type; !holdable(kind, declared) {
		c.Problem("variable.type", "the variable "+name+" is declared as "+declared+" and cannot hold "+kind.String(), "", at...)
	}
}

// given checks vals against what a function declares: all are known, those
// that are required are there, and each has its type.
func (c *Checker) Given(code, what string, vals map[string]Data, declared map[string]Typed, at string) {
	for _, name := range keys(vals) {
		t, ok := declared[name]
		switch kind := vals[name].Kind(); {
		case !ok:
			c.Problem(code, "the function declares no "+what+" "+shorten(name), values.DidYouMean(name, keys(declared)), at, name)
		case !holdable(kind, t.Type):
			c.Problem(code, name+" is declared as "+t.Type+" and cannot be "+kind.String(), "", at, name)
		}
	}
	for _, name := range keys(declared) {
		if _, ok := vals[name]; !ok && declared[name].Required && len(declared[name].Default) == 0 {
			c.Problem("config.required", "lacks "+name, declared[name].Description, at)
		}
	}
}
