package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// decoder fills a configuration from a document, and reports what does not match
// its shape.
type decoder struct {
	*report
}

// value decodes v into to.
func (d decoder) value(v *tree, to reflect.Value, s *shape, r *rules) {
	switch s.form {
	case formPointer:
		p := reflect.New(to.Type().Elem())
		d.value(v, p.Elem(), s.elem, r)
		to.Set(p)
	case formStruct:
		d.object(v, to, s)
	case formList:
		d.list(v, to, s, r)
	case formMap:
		d.mapping(v, to, s, r)
	case formData:
		to.Set(reflect.ValueOf(Data{source: v}))
	case formSchema, formRaw:
		d.raw(v, to, s, r)
	case formAny:
		if plain := v.plain(); plain != nil {
			to.Set(reflect.ValueOf(plain))
		}
	case formOpen:
		d.open(v, to, s, r)
	case formText, formExpression, formString, formDuration:
		d.text(v, to, s, r)
	case formBytes:
		d.bytes(v, to, r)
	case formBool:
		if d.is(v, kindBool) {
			to.SetBool(v.text == "true")
		}
	case formInteger, formNumber:
		d.number(v, to, s, r)
	}
}

// is reports a value of another kind as a problem. It returns whether the kind is
// right.
func (d decoder) is(v *tree, kind byte) bool {
	if v.kind == kind {
		return true
	}
	d.problem("shape.type", "must be "+kinds[kind]+", not "+kinds[v.kind], "")
	return false
}

func (d decoder) object(v *tree, to reflect.Value, s *shape) {
	if !d.is(v, kindObject) {
		return
	}
	d.known(v, s)
	d.members(v, to, s)
}

// known reports members that a struct does not have.
func (d decoder) known(v *tree, s *shape) {
	for _, m := range v.members {
		if !slices.ContainsFunc(s.fields, func(f field) bool { return f.name == m.name || f.alias == m.name && f.alias != "" }) {
			d.problem("shape.unknown", "is unknown", values.DidYouMean(m.name, fieldNames(s)), m.name)
		}
	}
}

// members decodes the members of a struct.
func (d decoder) members(v *tree, to reflect.Value, s *shape) {
	for i := range s.fields {
		d.member(v, to, &s.fields[i])
	}
}

func fieldNames(s *shape) []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

func (d decoder) member(v *tree, to reflect.Value, f *field) {
	name, in := f.name, v.get(f.name)
	if other := v.get(f.alias); f.alias != "" && other != nil {
		if in != nil {
			d.problem("shape.duplicate", "means the same as "+f.name, "", f.alias)
		} else {
			name, in = f.alias, other
		}
	}
	switch {
	case in != nil:
	case f.required:
		d.problem("shape.required", f.name+" is missing", hintOf(f))
		return
	case f.def != nil:
		in = f.def
	case f.shape.form == formStruct:
		in = &tree{kind: kindObject} // decode its defaults
	default:
		return
	}
	d.push(name)
	d.value(in, to.Field(f.index), f.shape, &f.rules)
	d.pop()
}

func hintOf(f *field) string {
	if len(f.rules.enum) > 0 {
		return "one of " + strings.Join(f.rules.enum, ", ")
	}
	return f.doc
}

func (d decoder) list(v *tree, to reflect.Value, s *shape, r *rules) {
	if !d.is(v, kindArray) {
		return
	}
	d.size(len(v.items), r, "item")
	out := reflect.MakeSlice(to.Type(), len(v.items), len(v.items))
	for i, item := range v.items {
		d.push(i)
		d.value(item, out.Index(i), s.elem, r.items())
		d.pop()
	}
	to.Set(out)
}

func (d decoder) mapping(v *tree, to reflect.Value, s *shape, r *rules) {
	if !d.is(v, kindObject) {
		return
	}
	d.size(len(v.members), r, "member")
	out := reflect.MakeMapWithSize(to.Type(), len(v.members))
	for _, m := range v.members {
		d.push(m.name)
		if p := values.Patterns[r.keys]; p != nil && !p().MatchString(m.name) {
			d.problem("shape.pattern", "is not a valid name", "it must match "+p().String())
		}
		item := reflect.New(to.Type().Elem()).Elem()
		d.value(m.value, item, s.elem, r.items())
		out.SetMapIndex(reflect.ValueOf(m.name), item)
		d.pop()
	}
	to.Set(out)
}

var noRules = &rules{}

func (r *rules) items() *rules {
	if r == nil || r.item == nil {
		return noRules
	}
	return r.item
}

// size reports a list, a map or a text whose size is out of bounds.
func (d decoder) size(n int, r *rules, unit string) bool {
	switch {
	case r.max != nil && n > int(*r.max):
		d.problem("shape.length", fmt.Sprintf("has %s; the maximum is %s", values.Count(n, unit), values.Count(int(*r.max), unit)), "")
	case r.min != nil && n == 0 && *r.min > 0:
		d.problem("shape.length", "is empty", "")
	case r.min != nil && n < int(*r.min):
		d.problem("shape.length", fmt.Sprintf("has %s; the minimum is %s", values.Count(n, unit), values.Count(int(*r.min), unit)), "")
	default:
		return true
	}
	return false
}

func (d decoder) raw(v *tree, to reflect.Value, s *shape, r *rules) {
	if !r.any && !d.is(v, kindObject) {
		return
	}
	if s.form == formSchema {
		if raw := v.canonical(); r.max != nil && len(raw) > int(*r.max) {
			d.problem("shape.size", fmt.Sprintf("has %d bytes; at most %d are allowed", len(raw), int(*r.max)), "")
		}
		to.Set(reflect.ValueOf(Schema{v}))
		return
	}
	to.SetBytes(v.canonical())
}

// maxTemplate limits the source of a template whose text has a limit: the length of
// what is in {{ }} does not count for that.
const maxTemplate = 4096

func (d decoder) text(v *tree, to reflect.Value, s *shape, r *rules) {
	if !d.is(v, kindString) {
		return
	}
	switch s.form {
	case formDuration:
		d.duration(v.text, to, r)
		return
	case formExpression:
		if strings.TrimSpace(v.text) == "" {
			d.problem("shape.length", "is empty", "write an expression")
		}
		d.limit(v.text, expression.MaxChars)
		to.Set(reflect.ValueOf(Expression{Source: v.text}))
		return
	case formText:
		to.Set(reflect.ValueOf(Text{Source: v.text}))
		if strings.Contains(v.text, "{{") {
			d.template(v.text, r)
			return
		}
	default:
		to.SetString(v.text)
	}
	d.literal(v.text, r)
}

// template checks the length of a template's source.
func (d decoder) template(source string, r *rules) {
	n := maxTemplate
	if r.max != nil {
		n = max(n, int(*r.max))
	}
	d.limit(source, n)
}

func (d decoder) literal(text string, r *rules) {
	if !d.size(utf8.RuneCountInString(text), r, "character") {
		return
	}
	if p := values.Patterns[r.pattern]; p != nil && !p().MatchString(text) {
		d.problem("shape.pattern", strconv.Quote(values.Shorten(text))+" is not valid", "it must match "+p().String())
	}
	if r.enum != nil && !slices.Contains(r.enum, text) {
		d.problem("shape.enum", strconv.Quote(values.Shorten(text))+" is not valid", "one of "+strings.Join(r.enum, ", "))
	}
}

func (d decoder) limit(text string, limit int) {
	bound := float64(limit)
	d.size(utf8.RuneCountInString(text), &rules{max: &bound}, "character")
}

func (d decoder) duration(text string, to reflect.Value, r *rules) {
	v, err := values.ParseDuration(text)
	if err != nil {
		d.problem("shape.duration", strconv.Quote(values.Shorten(text))+" is not a duration", "for example PT30S, PT10M, PT2H or P1D")
		return
	}
	if d.within(v.Seconds(), r, func(s float64) string { return values.FormatDuration(s) }) {
		to.SetInt(int64(v))
	}
}

func (d decoder) bytes(v *tree, to reflect.Value, r *rules) {
	n, err := values.ParseBytes(v.text)
	if err != nil || v.kind != kindString && v.kind != kindNumber {
		d.problem("shape.bytes", "is not a size", "a number of bytes, or for example 256KiB or 1MiB")
		return
	}
	if d.within(float64(n), r, func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) + " bytes" }) {
		to.SetInt(n)
	}
}

func (d decoder) number(v *tree, to reflect.Value, s *shape, r *rules) {
	if !d.is(v, kindNumber) {
		return
	}
	n := v.plain()
	f, whole := 0.0, false
	switch n := n.(type) {
	case int:
		f, whole = float64(n), true
	case float64:
		f = n
	}
	if s.form == formInteger && !whole {
		d.problem("shape.type", "must be a whole number", "")
		return
	}
	if !d.within(f, r, func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }) {
		return
	}
	if s.form == formInteger {
		to.SetInt(int64(n.(int)))
		return
	}
	to.SetFloat(f)
}

// within reports a value outside of its range.
func (d decoder) within(v float64, r *rules, write func(float64) string) bool {
	low, high := r.min != nil && v < *r.min, r.max != nil && v > *r.max
	switch {
	case !low && !high:
		return true
	case r.min != nil && r.max != nil:
		d.problem("shape.range", "must be from "+write(*r.min)+" to "+write(*r.max), "")
	case high:
		d.problem("shape.range", "must be at most "+write(*r.max), "")
	default:
		d.problem("shape.range", "must be at least "+write(*r.min), "")
	}
	return false
}
