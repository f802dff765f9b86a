package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Limits of a document.
const (
	MaxBytes   = 1 << 20   // without ui, in canonical form
	maxUIBytes = 256 << 10 // of ui
)

// maxRaw limits the text of a document, which may have white space.
const maxRaw = 2 << 20

// Decode parses a document and reports problems of its shape. [Types.Compile]
// checks configurations and the meaning of the document, and reports the problems
// of Decode again. The Document is nil only if raw is not a JSON object, or has an
// unknown format.
func Decode(raw []byte) (*Document, []Problem) {
	r := &report{}
	root := parse(raw, maxRaw, r)
	if root == nil {
		return nil, r.problems
	}
	if root.kind != kindObject {
		r.problem("shape.type", "must be an object, not "+kinds[root.kind], "")
		return nil, r.problems
	}
	r.root = root
	if root = upgrade(root, r); root == nil {
		return nil, r.problems
	}
	d := &Document{root: without(root, "ui")}
	r.root = root
	decoder{r}.object(root, reflect.ValueOf(d).Elem(), documentShape())
	r.checkDocument(d)
	sortProblems(r.problems, nil)
	d.problems = r.problems
	return d, slices.Clone(r.problems)
}

// documentShape returns the shape of a Document.
var documentShape = sync.OnceValue(func() *shape {
	s, err := shapeOf(&Document{})
	if err != nil {
		panic(err) // a bug in this package, which every test would find
	}
	return s
})

// checkDocument checks what the tags of a Document cannot express.
func (r *report) checkDocument(d *Document) {
	r.checkSize(len(d.Canonical()), MaxBytes)
	r.checkSize(len(d.UI), maxUIBytes, "ui")
	r.timezone(d.Settings.Timezone, "settings", "timezone")
	for _, of := range []struct {
		name  string
		typed map[string]Typed
	}{{"variables", d.Variables}, {"args", d.Args}, {"returns", d.Returns}} {
		for _, name := range slices.Sorted(maps.Keys(of.typed)) {
			r.checkDefault(of.typed[name], of.name, name, "default")
		}
	}
	if d.Kind == KindFlow {
		for _, name := range []string{"args", "returns"} {
			if r.root.get(name) != nil {
				r.warn("document.unused", "only functions have "+name, "", name)
			}
		}
	}
}

// defaultKinds are the JSON kinds of the values of a type.
var defaultKinds = map[string]byte{
	"string": kindString, "date": kindString, "datetime": kindString, "number": kindNumber, "integer": kindNumber,
	"boolean": kindBool, "list": kindArray, "object": kindObject,
}

func (r *report) checkSize(size, limit int, at ...any) {
	if size > limit {
		r.problem("shape.size", fmt.Sprintf("has %d bytes; at most %d are allowed", size, limit), "", at...)
	}
}

func (r *report) checkDefault(t Typed, at ...any) {
	v := r.root.at(at[0].(string), at[1].(string), "default")
	kind, known := defaultKinds[t.Type]
	switch {
	case v == nil || v.kind == kindNull || !known:
		return
	case v.kind != kind:
		r.problem("document.default", "must be "+kinds[kind]+", not "+kinds[v.kind], "", at...)
		return
	}
	if _, err := conform(v.plain(), t.Type); err != nil {
		r.problem("document.default", "does not fit the type "+t.Type, "", at...)
	}
}

func (r *report) timezone(name string, at ...any) {
	if name == "" {
		return
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		r.problem("value.timezone", "is not a valid time zone", "for example Europe/Berlin or UTC", at...)
	}
}

// form is the form of a value in a document.
type form uint8

const (
	formString form = iota
	formBool
	formInteger
	formNumber
	formDuration
	formBytes
	formText
	formExpression
	formData
	formSchema
	formRaw
	formAny
	formOpen // of the shape elem, or a template that yields it
	formStruct
	formList
	formMap
	formPointer
)

var fieldForms = map[reflect.Type]form{
	reflect.TypeFor[time.Duration]():   formDuration,
	reflect.TypeFor[Bytes]():           formBytes,
	reflect.TypeFor[Text]():            formText,
	reflect.TypeFor[Expression]():      formExpression,
	reflect.TypeFor[Data]():            formData,
	reflect.TypeFor[Schema]():          formSchema,
	reflect.TypeFor[json.RawMessage](): formRaw,
	reflect.TypeFor[any]():             formAny,
}

var kindForms = map[reflect.Kind]form{
	reflect.String: formString, reflect.Bool: formBool, reflect.Int: formInteger, reflect.Float64: formNumber,
	reflect.Struct: formStruct, reflect.Slice: formList, reflect.Map: formMap, reflect.Pointer: formPointer,
}

// shape describes how a Go type is represented in a document.
type shape struct {
	form   form
	fields []field // of a struct
	elem   *shape  // of a list, a map, a pointer, or a value that may be a template
}

// field is a member of a struct.
type field struct {
	name, alias, doc string
	index            int
	required         bool
	shape            *shape
	rules            rules
	def              *tree // nil: none
	scope, want      string
	writes           bool
}

// rules constrain a value.
type rules struct {
	enum     []string
	min, max *float64 // of the value, its length in characters, or its members; seconds, bytes
	pattern  string
	keys     string // pattern of the names of members
	any      bool   // raw: need not be an object
	item     *rules // for the items of a list or the members of a map
}

// maxShape limits the nesting of configurations, so that a recursive type is
// refused.
const maxShape = 12

// shapeOf derives the shape of a configuration from its type and tags.
func shapeOf(config any) (*shape, error) {
	t := reflect.TypeOf(config)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, errors.New("it must be a pointer to a struct")
	}
	return typeShape(t.Elem(), 0)
}

func typeShape(t reflect.Type, depth int) (*shape, error) {
	if depth > maxShape {
		return nil, fmt.Errorf("%s is nested too deep", t)
	}
	if f, ok := fieldForms[t]; ok {
		return &shape{form: f}, nil
	}
	f, ok := kindForms[t.Kind()]
	if !ok || f == formMap && t.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("%s cannot be a part of a configuration", t)
	}
	s := &shape{form: f}
	var err error
	switch f {
	case formStruct:
		s.fields, err = structFields(t, depth)
	case formList, formMap, formPointer:
		s.elem, err = typeShape(t.Elem(), depth+1)
	}
	return s, err
}

func structFields(t reflect.Type, depth int) ([]field, error) {
	var fields []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if name == "" || name == "-" || !t.Field(i).IsExported() {
			continue
		}
		f := field{name: name, alias: tag.Get("alias"), doc: tag.Get("doc"), index: i, required: tag.Get("required") == "true", scope: tag.Get("scope"), want: tag.Get("want"), writes: tag.Get("writes") == "true"}
		var err error
		if f.shape, err = typeShape(t.Field(i).Type, depth+1); err == nil {
			f.rules, err = rulesOf(tag, "", f.shape)
		}
		if err == nil {
			f.def, err = defaultOf(tag, f.shape)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 && t.NumField() > 0 {
		return nil, fmt.Errorf("%s has no member with a json tag", t)
	}
	return fields, nil
}

// rulesOf parses the tags of a value, or with a prefix those of its items.
func rulesOf(tag reflect.StructTag, prefix string, s *shape) (r rules, err error) {
	get := func(name string) string {
		if prefix == "" {
			return tag.Get(name)
		}
		return tag.Get(prefix + strings.ToUpper(name[:1]) + name[1:])
	}
	if v := get("enum"); v != "" {
		r.enum = strings.Split(v, ",")
	}
	r.pattern, r.keys, r.any = get("pattern"), get("keys"), get("any") == "true"
	for _, p := range []string{r.pattern, r.keys} {
		if p != "" && values.Patterns[p] == nil {
			return r, fmt.Errorf("there is no pattern %q", p)
		}
	}
	if r.min, err = boundOf(get("min"), s.form); err != nil {
		return r, err
	}
	if r.max, err = boundOf(get("max"), s.form); err != nil {
		return r, err
	}
	if prefix == "" && s.elem != nil {
		item, err := rulesOf(tag, "item", s.elem)
		r.item = &item
		if s.form == formPointer {
			r.item = nil
		}
		return r, err
	}
	return r, nil
}

func boundOf(text string, f form) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	var v float64
	var err error
	switch f {
	case formDuration:
		var d time.Duration
		d, err = values.ParseDuration(text)
		v = d.Seconds()
	case formBytes:
		var n int64
		n, err = values.ParseBytes(text)
		v = float64(n)
	default:
		v, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the bound %q: %w", text, err)
	}
	return &v, nil
}

// defaultOf returns the default of a member.
func defaultOf(tag reflect.StructTag, s *shape) (*tree, error) {
	text, ok := tag.Lookup("default")
	if !ok {
		return nil, nil
	}
	switch s.form {
	case formString, formDuration, formBytes, formText, formExpression:
		return &tree{kind: kindString, text: text}, nil
	}
	r := &report{}
	t := parse([]byte(text), len(text), r)
	if len(r.problems) > 0 {
		return nil, fmt.Errorf("reading the default %q: %w", text, r.problems[0])
	}
	return t, nil
}
