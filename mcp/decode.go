package mcp

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// all is the argument that a detail names when it concerns no single one.
const all = "arguments"

const (
	maxDetails = 50  // details of one call
	maxNamed   = 100 // bytes of a name that the caller chose
)

// decoder reads arguments into Go values and collects what is wrong with them. It
// parses the original bytes, so that integers stay exact.
type decoder struct {
	details []Detail
}

// path is the position of a value.
type path struct {
	up   *path
	name string // of a member; "" for an element
	i    int
}

func (p *path) String() string {
	switch {
	case p == nil:
		return all
	case p.name == "":
		return p.up.String() + "[" + strconv.Itoa(p.i) + "]"
	case p.up == nil:
		return p.name
	}
	return p.up.String() + "." + p.name
}

func (d *decoder) fail(at *path, format string, args ...any) {
	if len(d.details) < maxDetails {
		d.details = append(d.details, Detail{at.String(), fmt.Sprintf(format, args...)})
	}
}

// object returns raw without surrounding spaces if it is an object, else what is
// wrong with it.
func object(raw []byte) (out []byte, problem string) {
	switch {
	case len(raw) == 0:
		return []byte("{}"), ""
	case len(raw) > MaxArguments:
		return nil, fmt.Sprintf("are larger than %d bytes", MaxArguments)
	case !utf8.Valid(raw):
		return nil, "are not valid UTF-8"
	case !json.Valid(raw):
		return nil, "are not valid JSON"
	case depth(raw) > MaxDepth:
		return nil, fmt.Sprintf("have more than %d levels", MaxDepth)
	case jsonscan.Kind(raw) != '{':
		return nil, "must be an object"
	}
	return bytes.TrimSpace(raw), ""
}

// decodeArguments decodes an object into dst.
func decodeArguments(raw []byte, s *shape, dst reflect.Value) []Detail {
	d := &decoder{}
	d.value(nil, raw, s, dst)
	return d.details
}

// depth counts the levels of valid JSON.
func depth(raw []byte) (limit int) {
	level := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			level++
			limit = max(limit, level)
		case '}', ']':
			level--
		}
	}
	return limit
}

func (d *decoder) value(at *path, raw []byte, s *shape, dst reflect.Value) {
	if s.own || s.kind == kindAny {
		d.unchecked(at, raw, s, allocate(dst))
		return
	}
	if jsonscan.Kind(raw) == 'n' {
		d.fail(at, "must not be null: leave it out")
		return
	}
	dst = allocate(dst)
	switch s.kind {
	case kindObject:
		d.object(at, raw, s, dst)
	case kindMap:
		d.mapping(at, raw, s, dst)
	case kindArray:
		d.array(at, raw, s, dst)
	case kindString:
		d.text(at, raw, s, dst)
	case kindInteger:
		d.integer(at, raw, s, dst)
	case kindNumber:
		d.number(at, raw, s, dst)
	case kindBoolean:
		if k := jsonscan.Kind(raw); k != 't' && k != 'f' {
			d.fail(at, "must be true or false")
			return
		}
		dst.SetBool(raw[0] == 't')
	case kindAny:
	}
}

// allocate allocates the values that pointers refer to.
func allocate(dst reflect.Value) reflect.Value {
	for dst.Kind() == reflect.Pointer {
		if dst.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		dst = dst.Elem()
	}
	return dst
}

func (d *decoder) object(at *path, raw []byte, s *shape, dst reflect.Value) {
	if jsonscan.Kind(raw) != '{' {
		d.fail(at, "must be an object")
		return
	}
	var few [16]bool // more only for a large struct
	seen := slices.Grow(few[:0], len(s.fields))[:len(s.fields)]
	var strange []string
	for name, value := range jsonscan.Members(raw) {
		f := s.byName[string(name)]
		if f == nil {
			d.unknown(at, string(name), &strange)
			continue
		}
		i := slices.Index(s.fields, f)
		here := &path{up: at, name: f.name}
		if seen[i] {
			d.fail(here, "is given twice")
			continue
		}
		seen[i] = true
		d.value(here, value, f.shape, dst.FieldByIndex(f.index))
	}
	for i, f := range s.fields {
		switch {
		case seen[i]:
		case f.shape.fallback != nil:
			d.value(&path{up: at, name: f.name}, f.shape.fallback, f.shape, dst.FieldByIndex(f.index))
		case f.required:
			d.fail(&path{up: at, name: f.name}, "is missing")
		}
	}
}

// unknown refuses an unknown member, once for each name.
func (d *decoder) unknown(at *path, name string, strange *[]string) {
	if len(d.details) == maxDetails || slices.Contains(*strange, name) {
		return
	}
	*strange = append(*strange, name)
	d.fail(&path{up: at, name: shown(name)}, "is unknown")
}

// shown returns a name that the caller chose, truncated.
func shown(name string) string {
	if len(name) > maxNamed {
		name = strings.ToValidUTF8(name[:maxNamed], "") + "…"
	}
	if name == "" {
		return `""`
	}
	return name
}

func (d *decoder) array(at *path, raw []byte, s *shape, dst reflect.Value) {
	if jsonscan.Kind(raw) != '[' {
		d.fail(at, "must be an array")
		return
	}
	list, n := reflect.MakeSlice(dst.Type(), 0, 0), 0
	for element := range jsonscan.Elements(raw) {
		one := reflect.New(dst.Type().Elem()).Elem()
		if len(d.details) < maxDetails {
			d.value(&path{up: at, i: n}, element, s.elem, one)
			list = reflect.Append(list, one)
		}
		n++
	}
	d.count(at, n, s, "elements")
	dst.Set(list)
}

func (d *decoder) mapping(at *path, raw []byte, s *shape, dst reflect.Value) {
	if jsonscan.Kind(raw) != '{' {
		d.fail(at, "must be an object")
		return
	}
	out := reflect.MakeMap(dst.Type())
	for name, value := range jsonscan.Members(raw) {
		here := &path{up: at, name: shown(string(name))}
		key := reflect.ValueOf(string(name)).Convert(dst.Type().Key())
		switch {
		case bytes.IndexByte(name, 0) >= 0:
			d.fail(here, "has a name with U+0000")
		case out.MapIndex(key).IsValid():
			d.fail(here, "is given twice")
		default:
			one := reflect.New(dst.Type().Elem()).Elem()
			d.value(here, value, s.elem, one)
			out.SetMapIndex(key, one)
		}
	}
	dst.Set(out)
}

// unchecked reads a value of any type. It must still be well-formed.
func (d *decoder) unchecked(at *path, raw []byte, s *shape, dst reflect.Value) {
	before := len(d.details)
	d.sound(at, raw)
	if len(d.details) > before {
		return
	}
	switch {
	case s.typ == rawMessage:
		dst.SetBytes(bytes.Clone(raw))
	case s.typ == jsonNumber:
		if k := jsonscan.Kind(raw); k != '-' && (k < '0' || k > '9') {
			d.fail(at, "must be a number")
			return
		}
		dst.SetString(string(raw))
	default:
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(dst.Addr().Interface()) != nil {
			d.fail(at, "has the wrong form")
		}
	}
}

// sound finds members that are given twice and texts that are not valid.
func (d *decoder) sound(at *path, raw []byte) {
	switch jsonscan.Kind(raw) {
	case '"':
		if _, problem := textOf(raw); problem != "" {
			d.fail(at, "%s", problem)
		}
	case '[':
		n := 0
		for element := range jsonscan.Elements(raw) {
			d.sound(&path{up: at, i: n}, element)
			n++
		}
	case '{':
		seen := map[string]bool{}
		for name, value := range jsonscan.Members(raw) {
			here := &path{up: at, name: shown(string(name))}
			switch {
			case seen[string(name)]:
				d.fail(here, "is given twice")
			case bytes.IndexByte(name, 0) >= 0:
				d.fail(here, "has a name with U+0000")
			}
			seen[string(name)] = true
			d.sound(here, value)
		}
	}
}

// unmarshaledText decodes a text into a type that implements
// encoding.TextUnmarshaler.
func (d *decoder) unmarshaledText(at *path, text string, dst reflect.Value) {
	u, ok := dst.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok || u.UnmarshalText([]byte(text)) != nil {
		d.fail(at, "has the wrong form")
	}
}
