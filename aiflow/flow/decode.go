package flow

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
)

// The sizes of a document.
const (
	MaxBytes   = 1 << 20   // without ui, in canonical form
	MaxUIBytes = 256 << 10 // of ui
)

// maxRaw bounds the text of a document, which may have spaces.
const maxRaw = 2 << 20

// Decode reads a document and reports what is wrong with its own shape;
// configurations, and what the document means, are for [Types.Compile], which
// reports these again. The Document is nil only when raw is no JSON object, or
// one of a format that is not known.
func Decode(raw []byte) (*Document, []Problem) {
	r := &report{}
	root := parse(raw, maxRaw, r)
	if root == nil {
		return nil, r.problems
	}
	if root.Kind != KindObject {
		r.problem("shape.type", "must be an object, not "+kinds[root.Kind], "")
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

// documentShape is how a Document is written.
var documentShape = sync.OnceValue(func() *shape {
	s, err := shapeOf(&Document{})
	if err != nil {
		panic(err) // a mistake in this package, which every test would meet
	}
	return s
})

// checkDocument finds what the tags of a Document cannot say.
func (r *report) checkDocument(d *Document) {
	r.checkSize(len(d.Canonical()), MaxBytes)
	r.checkSize(len(d.UI), MaxUIBytes, "ui")
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

// defaultKinds are how values of a type are written.
var defaultKinds = map[string]byte{
	"string": KindString, "date": KindString, "datetime": KindString, "number": kindNumber, "integer": kindNumber,
	"boolean": kindBool, "list": kindArray, "object": KindObject,
}

func (r *report) checkSize(size, most int, at ...any) {
	if size > most {
		r.problem("shape.size", fmt.Sprintf("has %d bytes; %d are allowed", size, most), "", at...)
	}
}

func (r *report) checkDefault(t Typed, at ...any) {
	v := r.root.at(at[0].(string), at[1].(string), "default")
	kind, known := defaultKinds[t.Type]
	switch {
	case v == nil || v.Kind == kindNull || !known:
		return
	case v.Kind != kind:
		r.problem("document.default", "must be "+kinds[kind]+", not "+kinds[v.Kind], "", at...)
		return
	}
	if _, err := Conform(v.plain(), t.Type); err != nil {
		r.problem("document.default", "does not fit the type "+t.Type, "", at...)
	}
}

func (r *report) timezone(name string, at ...any) {
	if name == "" {
		return
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		r.problem("value.timezone", "is no time zone", "as Europe/Berlin or UTC", at...)
	}
}
