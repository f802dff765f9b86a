package clientgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// prefixes of schemas name the package of a type.
var prefixes = []string{"Messaging", "Provider"}

// suffixes of schemas name the role of a type.
var suffixes = []string{"View", "InputBody", "BodyBody", "Body"}

// better are names for structs without a good name in the document.
var better = map[string]string{"SendRequestMessage": "Content", "HookconfResultData": "HookconfData"}

// types are the generated types by name.
type types struct {
	doc   *document
	names map[string]string // of schemas
	out   map[string]string // Go by name

	methods map[string]int // number of services that have a method of that name
}

func newTypes(d *document) *types {
	t := &types{doc: d, names: map[string]string{}, out: map[string]string{}, methods: map[string]int{}}
	taken := map[string]bool{"Client": true, "Options": true, "Error": true, "Event": true, "Page": true, "Time": true, "Field": true, "Problem": true}
	for _, op := range d.operations() {
		taken[op.service] = true
	}
	t.nameBodies(taken)
	short := map[string][]string{}
	for name := range d.Components.Schemas {
		if t.names[name] == "" {
			short[shorten(name)] = append(short[shorten(name)], name)
		}
	}
	for s, full := range short {
		heir := heir(full)
		for _, name := range full {
			if t.names[name] = name; name == heir && !taken[s] {
				t.names[name] = s
			}
		}
	}
	return t
}

// heir returns which of several schemas gets the short name: the only one, or the
// one of the package with that name.
func heir(of []string) string {
	if len(of) == 1 {
		return of[0]
	}
	slices.Sort(of)
	for _, p := range prefixes {
		for _, name := range of {
			if strings.HasPrefix(name, p) {
				return name
			}
		}
	}
	return ""
}

func shorten(name string) string {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			name = rest
			break
		}
	}
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(name, s); ok && rest != "" {
			return rest
		}
	}
	return name
}

// nameBodies names the bodies of requests after their operations.
func (t *types) nameBodies(taken map[string]bool) {
	uses := map[string][]*operation{}
	for _, op := range t.doc.operations() {
		t.methods[op.name]++
	}
	for _, op := range t.doc.operations() {
		if s := op.RequestBody.of("application/json"); s != nil && s.Ref != "" {
			uses[last(s.Ref)] = append(uses[last(s.Ref)], op)
		}
	}
	for schema, ops := range uses {
		if len(ops) > 1 {
			continue
		}
		name := t.nameOf(ops[0], "Request")
		t.names[schema], taken[name] = name, true
	}
}

// nameOf returns a name for a type of an operation: SendRequest, but
// AiflowCreateRequest if several services have a method Create.
func (t *types) nameOf(op *operation, what string) string {
	if t.methods[op.name] > 1 {
		return op.service + op.name + what
	}
	return op.name + what
}

func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// goType returns the Go type of a schema. name is the name of an anonymous struct.
func (t *types) goType(s *schema, name string) string {
	if s.Ref != "" {
		return t.named(last(s.Ref))
	}
	if len(s.OneOf) > 0 {
		return t.either(s, name)
	}
	kind, _ := s.kind()
	switch kind {
	case "string":
		if s.Encoding == "base64" {
			return "[]byte"
		}
		return "string"
	case "boolean":
		return "bool"
	case "number":
		return "float64"
	case digits:
		return "json.Number"
	case "integer":
		if strings.Contains(s.Description, "UNIX seconds") {
			return "Time"
		}
		return "int64"
	case "array":
		return "[]" + t.goType(s.Items, name+"Item")
	case "object":
		return t.object(s, name)
	}
	return "json.RawMessage"
}

func (t *types) object(s *schema, name string) string {
	if len(s.Properties) > 0 {
		t.write(name, s, false)
		return name
	}
	if v := s.values(); v != nil {
		return "map[string]" + t.goType(v, name+"Value")
	}
	return "json.RawMessage"
}

// named returns the Go type of a named schema.
func (t *types) named(schemaName string) string {
	s := t.doc.Components.Schemas[schemaName]
	if item := page(s); item != nil {
		return "Page[" + t.goType(item, "") + "]"
	}
	name := t.names[schemaName]
	switch {
	case len(s.Properties) > 0:
		t.write(name, s, false)
		return name
	case len(s.OneOf) > 0:
		return t.either(s, name)
	}
	if kind, _ := s.kind(); kind == "object" && s.values() == nil { // an empty object
		t.write(name, s, false)
		return name
	}
	return t.goType(s, name)
}

// page returns the item of a list with a cursor; nil: the schema is not such a
// list.
func page(s *schema) *schema {
	items, next := s.Properties["items"], s.Properties["next"]
	if len(s.Properties) != 2 || items == nil || next == nil || items.Items == nil {
		return nil
	}
	return items.Items
}

// either returns the type for one of several schemas: a struct with the members of
// all of them, the one that is not null, or the first of plain values.
func (t *types) either(s *schema, name string) string {
	var real []*schema
	for _, one := range s.OneOf {
		if kind, _ := one.kind(); kind != "null" {
			real = append(real, one)
		}
	}
	if len(real) == 1 {
		return t.goType(real[0], name)
	}
	all := &schema{Description: s.Description, Properties: map[string]*schema{}}
	for _, one := range real {
		r := one
		if one.Ref != "" {
			r = t.doc.Components.Schemas[last(one.Ref)]
		}
		if len(r.Properties) == 0 {
			if one.Ref == "" && s.Discriminator == nil {
				return t.plain(real)
			}
			continue
		}
		for member, m := range r.Properties {
			all.Properties[member] = merged(all.Properties[member], m, s.Discriminator != nil && member == s.Discriminator.PropertyName)
		}
	}
	for member := range all.Properties {
		if s.Discriminator != nil && member == s.Discriminator.PropertyName || everywhere(t, real, member) {
			all.Required = append(all.Required, member)
		}
	}
	t.write(name, all, true)
	return name
}

// plain returns the type for one of several plain values.
func (t *types) plain(of []*schema) string {
	if kind, _ := of[0].kind(); kind == "boolean" {
		return "bool"
	}
	return "any"
}

// digits is the type of a number that may be written as a string.
const digits = "digits"

// merged merges a member that several structs have.
func merged(a, b *schema, discriminator bool) *schema {
	if discriminator {
		values := []any{}
		if a != nil {
			values = a.Enum
		}
		return &schema{Type: "string", Description: "Which of them it is.", Enum: append(slices.Clone(values), b.Enum...)}
	}
	if a == nil {
		return b
	}
	ka, _ := a.kind()
	kb, _ := b.kind()
	switch {
	case ka == kb:
		return a
	case ka == digits || kb == digits || slices.Contains([]string{ka, kb}, "integer") && slices.Contains([]string{ka, kb}, "string"):
		return &schema{Type: digits, Description: a.Description}
	}
	return &schema{Description: a.Description}
}

// everywhere reports whether all structs require a member.
func everywhere(t *types, of []*schema, member string) bool {
	for _, s := range of {
		if s.Ref != "" {
			s = t.doc.Components.Schemas[last(s.Ref)]
		}
		if !slices.Contains(s.Required, member) {
			return false
		}
	}
	return true
}

// write writes a struct once. In a union, members that are not in all of its types
// are optional.
func (t *types) write(name string, s *schema, union bool) {
	if _, ok := t.out[name]; ok {
		return
	}
	t.out[name] = "" // it may refer to itself
	var b strings.Builder
	comment(&b, "", name, s.Description)
	fmt.Fprintf(&b, "type %s struct {\n", name)
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[member]
		comment(&b, "\t", "", text(p))
		within := name + exported(member)
		if better, ok := better[within]; ok {
			within = better
		}
		typ, tag := t.goType(p, within), member
		required := slices.Contains(s.Required, member)
		if t.optional(p, typ, required, union) {
			typ = "*" + typ
		}
		if !required {
			tag += ",omitzero"
		}
		fmt.Fprintf(&b, "\t%s %s `json:%q`\n", exported(member), typ, tag)
	}
	b.WriteString("}\n\n")
	t.out[name] = b.String()
}

// optional reports whether a member is a pointer because its zero value differs
// from its absence. In a union an empty text means absence.
func (t *types) optional(p *schema, typ string, required, union bool) bool {
	if strings.HasPrefix(typ, "[]") || strings.HasPrefix(typ, "map[") || typ == "json.RawMessage" || typ == "any" {
		return false
	}
	_, null := p.kind()
	for _, one := range p.OneOf {
		kind, _ := one.kind()
		null = null || kind == "null"
	}
	return null || !required && (!union || typ != "string" && typ != "json.Number")
}

// text returns the description of a member.
func text(p *schema) string {
	s := p.Description
	if len(p.Enum) > 0 && len(p.Enum) <= 20 {
		var values []string
		for _, v := range p.Enum {
			if v != nil {
				values = append(values, fmt.Sprint(v))
			}
		}
		s = strings.TrimSpace(s + " One of " + strings.Join(values, ", ") + ".")
	}
	return s
}
