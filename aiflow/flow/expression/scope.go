package expression

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is a set of kinds of values.
type Kind uint16

// The kinds. Nothing (nil) may occur wherever another kind is declared, so a
// declaration need not name it.
const (
	Nothing Kind = 1 << iota
	Bool
	Number
	Text
	Date // within an expression; outside it is a text
	List
	Map

	Any = Nothing | Bool | Number | Text | Date | List | Map
)

var kindNames = []struct {
	kind Kind
	name string
}{
	{Nothing, "nothing"},
	{Bool, "boolean"},
	{Number, "number"},
	{Text, "text"},
	{Date, "date"},
	{List, "list"},
	{Map, "object"},
}

// String returns the names of the kinds for people: "number", "text or list",
// "anything".
func (k Kind) String() string {
	if k&^Nothing == Any&^Nothing {
		return "anything"
	}
	var names []string
	for _, n := range kindNames {
		if k&n.kind != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " or ")
}

// Type describes a value before it is known. The zero value allows anything.
type Type struct {
	Kind   Kind            // 0: any
	Items  *Type           // of a list; nil: any
	Fields map[string]Type // of an object; nil: any; else there are no other members
}

// TypeNamed returns the type for a word with which a flow declares one: string,
// number, integer, boolean, date, datetime, list, object, any.
func TypeNamed(name string) (Type, bool) {
	switch name {
	case "string":
		return Type{Kind: Text}, true
	case "number", "integer":
		return Type{Kind: Number}, true
	case "boolean":
		return Type{Kind: Bool}, true
	case "date", "datetime":
		return Type{Kind: Date | Text}, true
	case "list":
		return Type{Kind: List}, true
	case "object":
		return Type{Kind: Map}, true
	case "any":
		return Type{Kind: Any}, true
	}
	return Type{}, false
}

func (t Type) kind() Kind {
	if t.Kind == 0 {
		return Any
	}
	return t.Kind
}

// may reports whether a value of the type can be of one of the kinds.
func (t Type) may(k Kind) bool { return t.kind()&k != 0 }

func (t Type) items() Type {
	if t.Items == nil {
		return Type{}
	}
	return *t.Items
}

// write writes a text that is equal for equal types.
func (t Type) write(b *strings.Builder) {
	fmt.Fprintf(b, "%d", t.kind())
	if t.Items != nil {
		b.WriteByte('[')
		t.Items.write(b)
		b.WriteByte(']')
	}
	if t.Fields != nil {
		writeTypes(b, t.Fields)
	}
}

func writeTypes(b *strings.Builder, types map[string]Type) {
	b.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(b, "%q:", name)
		types[name].write(b)
	}
	b.WriteByte('}')
}

// Scope holds the names with which an expression may begin, and their types. It is
// immutable. A nil Scope has no names.
type Scope struct {
	names map[string]Type
	hash  [sha256.Size]byte // of the names and their types
}

// NewScope returns a scope with names. It copies the map; the types must not
// change.
func NewScope(names map[string]Type) *Scope {
	s := &Scope{names: maps.Clone(names)}
	var b strings.Builder
	writeTypes(&b, s.names)
	s.hash = sha256.Sum256([]byte(b.String()))
	return s
}

// With returns a scope with one more name, which hides an existing one.
func (s *Scope) With(name string, t Type) *Scope {
	names := map[string]Type{name: t}
	if s != nil {
		names = maps.Clone(s.names)
		if names == nil {
			names = map[string]Type{}
		}
		names[name] = t
	}
	return NewScope(names)
}

func (s *Scope) lookup(name string) (Type, bool) {
	if s == nil {
		return Type{}, false
	}
	t, ok := s.names[name]
	return t, ok
}

func (s *Scope) sorted() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.names))
}
