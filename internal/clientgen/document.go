// Package clientgen generates a typed Go client from an OpenAPI 3.1 document whose
// operation ids are <Service>_<Method>. It supports only what Trunkline's own
// document needs.
package clientgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type document struct {
	Paths      map[string]map[string]*operation
	Tags       []struct{ Name, Description string }
	Components struct {
		Schemas  map[string]*schema
		Examples map[string]struct{ Summary string }
	}
}

type operation struct {
	ID, Summary, Description string
	Parameters               []*parameter
	RequestBody              *body
	Responses                map[string]*body
	method, path             string
	service, name            string
}

// UnmarshalJSON decodes an operation with its id.
func (o *operation) UnmarshalJSON(b []byte) error {
	type plain operation
	var in struct {
		plain
		OperationID string
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("reading an operation: %w", err)
	}
	*o = operation(in.plain)
	o.ID = in.OperationID
	o.service, o.name, _ = strings.Cut(o.ID, "_")
	return nil
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type body struct {
	Content map[string]struct{ Schema *schema }
}

type schema struct {
	Ref           string `json:"$ref"`
	Type          any
	Description   string
	Properties    map[string]*schema
	Required      []string
	Items         *schema
	OneOf         []*schema
	Enum          []any
	Encoding      string          `json:"contentEncoding"`
	Additional    json.RawMessage `json:"additionalProperties"`
	Discriminator *struct{ PropertyName string }
}

// kind returns the type of a schema, and whether it may be null.
func (s *schema) kind() (kind string, null bool) {
	switch t := s.Type.(type) {
	case string:
		return t, false
	case []any:
		for _, k := range t {
			if k == "null" {
				null = true
			} else {
				kind, _ = k.(string)
			}
		}
	}
	return kind, null
}

// values returns the schema of the members of a map; nil: there is none.
func (s *schema) values() *schema {
	var v schema
	if len(s.Additional) == 0 || s.Additional[0] != '{' || json.Unmarshal(s.Additional, &v) != nil {
		return nil
	}
	return &v
}

func read(raw []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
		}
	}
	return &d, nil
}

// operations returns the operations of the document, sorted by id.
func (d *document) operations() []*operation {
	var out []*operation
	for _, methods := range d.Paths {
		out = slices.AppendSeq(out, maps.Values(methods))
	}
	slices.SortFunc(out, func(a, b *operation) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// of returns the schema of a body with a media type; nil: there is none.
func (b *body) of(kind string) *schema {
	if b == nil {
		return nil
	}
	return b.Content[kind].Schema
}
