package flow

import (
	"maps"
	"regexp"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// Checker receives the problems that a [Config] finds while its document is
// compiled. Positions are relative to the configuration, as names and indices:
// "choices", 2, "id". A position that the document does not have, because its value
// is missing or a default, becomes the closest one that it has.
type Checker struct {
	report   *report // positioned at the node's configuration
	Document *Document
	graph    *graph
	vertex   *vertex
	ids      map[string]bool // ids that ownID has seen
}

// Problem reports an error: the document cannot be published.
func (c *Checker) Problem(code, message, hint string, at ...any) {
	c.report.problem(code, message, hint, at...)
}

// Warn reports something that the author may not have meant.
func (c *Checker) Warn(code, message, hint string, at ...any) {
	c.report.warn(code, message, hint, at...)
}

// Need reports a missing member, unless given. It is for members that the rest of
// the configuration requires.
func (c *Checker) Need(given bool, at ...any) {
	if given || len(at) == 0 {
		return
	}
	name, _ := at[len(at)-1].(string)
	c.Problem("config.required", name+" is missing", "", at[:len(at)-1]...)
}

// Regexp compiles a regular expression (RE2) of at most 1,000 instructions, with
// repetitions written out. It returns nil, and reports a problem, if that is not
// possible.
func (c *Checker) Regexp(source string, at ...any) *regexp.Regexp {
	re, _, err := pattern.Compile(source)
	if err != nil {
		c.Problem("value.regex", err.Error(), "the syntax is that of RE2", at...)
		return nil
	}
	return re
}

// Wired returns the outputs that the document connects, sorted.
func (c *Checker) Wired() []string { return slices.Sorted(maps.Keys(c.vertex.node.Next)) }

// Next reports a problem of a connection.
func (c *Checker) Next(code, output, message, hint string) {
	path := c.report.path
	c.report.path = []any{"nodes", c.vertex.id, "next", output}
	c.report.problem(code, message, hint)
	c.report.path = path
}

// OwnID checks an id that names an output or a choice: it must be unique and must
// not be a fixed output of the type.
func (c *Checker) OwnID(id string, at ...any) {
	for _, o := range c.vertex.typ.Outputs {
		if o.Name == id {
			c.Problem("config.reserved", id+" is the name of an output of every "+c.vertex.typ.Name, "give it another id", at...)
			return
		}
	}
	if c.ids[id] {
		c.Problem("config.twice", "the id "+id+" is used twice", "give it another id", at...)
	}
	c.ids[id] = true
}

// LeadsTo checks a node that is the target of a jump without a connection.
func (c *Checker) LeadsTo(id string, at ...any) {
	if code, message, hint := c.graph.target(id); code != "" {
		c.Problem(code, message, hint, at...)
	}
}

// InLoop checks that the node is in a loop.
func (c *Checker) InLoop() {
	switch v := c.vertex; {
	case !v.reached:
	case !v.may.loops():
		c.Problem("loop.outside", "is not in a loop", "connect it to the output body of a loop")
	case !v.must.loops():
		c.Warn("loop.outside", "can also be reached outside of a loop, where it fails", "")
	}
}

// OwnRoot checks a name that expressions see besides the fixed names.
func (c *Checker) OwnRoot(name string, at ...any) {
	if slices.Contains(fixedRoots, name) {
		c.Problem("loop.names", name+" already has another meaning", "give it another name", at...)
	}
}

// ShortText checks the length of a text without expressions.
func (c *Checker) ShortText(t Text, limit int, at ...any) {
	if text, constant := t.Constant(); constant && len([]rune(text)) > limit {
		c.Problem("shape.length", "has more than "+values.Count(limit, "character"), "", at...)
	}
}

// Degrees checks a coordinate.
func (c *Checker) Degrees(d Data, limit float64, at ...any) {
	v, constant := d.Constant()
	if !constant {
		return
	}
	n, err := conform(v, "number")
	f, _ := n.(float64)
	if i, whole := n.(int); whole {
		f = float64(i)
	}
	if err != nil || n == nil || f < -limit || f > limit {
		c.Problem("message.location", "is not a valid coordinate", "", at...)
	}
}

// Timezone reports a name that is not a time zone.
func (c *Checker) Timezone(name string, at ...any) { c.report.timezone(name, at...) }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// holds maps each declared type to the kinds of values that it accepts. As in
// [conform], texts of numbers become numbers and vice versa.
var holds = map[string]expression.Kind{
	"string": expression.Text | expression.Number | expression.Bool | expression.Date,
	"number": expression.Number | expression.Text, "integer": expression.Number | expression.Text,
	"boolean": expression.Bool | expression.Text, "date": expression.Date | expression.Text, "datetime": expression.Date | expression.Text,
	"list": expression.List, "object": expression.Map,
}

// holdable reports whether a value of one of the kinds may be converted to a
// declared type. Kind 0 is any. Nothing is accepted by every type.
func holdable(kind expression.Kind, declared string) bool {
	takes, known := holds[declared]
	return !known || kind == 0 || kind&(takes|expression.Nothing) != 0
}

// Kind returns what is known about the value before it is rendered.
func (d Data) Kind() expression.Kind {
	switch {
	case d.root == nil:
		return 0
	case d.root.template != nil:
		return d.root.template.Type().Kind
	}
	switch d.source.kind {
	case kindString:
		return expression.Text
	case kindNumber:
		return expression.Number
	case kindBool:
		return expression.Bool
	case kindArray:
		return expression.List
	case kindObject:
		return expression.Map
	}
	return expression.Nothing
}

// Saves reports a variable, or a path in one, that cannot hold a value of the given
// kinds (0: any) because of its declaration. It is for members with the tag writes.
func (c *Checker) Saves(path string, kind expression.Kind, at ...any) {
	name, rest := values.CutPath(path)
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

// Given checks vals against the declarations of a function: all must be declared,
// required ones must be present, and each must have its type.
func (c *Checker) Given(code, what string, vals map[string]Data, declared map[string]Typed, at string) {
	for _, name := range keys(vals) {
		t, ok := declared[name]
		switch kind := vals[name].Kind(); {
		case !ok:
			c.Problem(code, "the function declares no "+what+" "+values.Shorten(name), values.DidYouMean(name, keys(declared)), at, name)
		case !holdable(kind, t.Type):
			c.Problem(code, name+" is declared as "+t.Type+" and cannot be "+kind.String(), "", at, name)
		}
	}
	for _, name := range keys(declared) {
		if _, ok := vals[name]; !ok && declared[name].Required && len(declared[name].Default) == 0 {
			c.Problem("config.required", name+" is missing", declared[name].Description, at)
		}
	}
}
