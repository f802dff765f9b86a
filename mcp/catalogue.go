package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// catalogue is the set of registered functions. A change replaces it.
type catalogue struct {
	order    []*function
	byName   map[string]*function
	released int    // number of functions, the first ones, that the version covers
	version  string // of the released functions; "": none was given
}

// Tool describes a function for a protocol.
type Tool struct {
	Name, Title, Description, Permission string
	ReadOnly, Idempotent, Destructive    bool
	// Input and Output are JSON Schemas (2020-12) of objects. A type is a single
	// word and never null. Input allows no further properties.
	Input, Output json.RawMessage
}

// Descriptor describes a function in the REST API.
type Descriptor struct {
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Description string              `json:"description"`
	Permission  string              `json:"permission" doc:"Permission that a caller needs in addition to mcp.execute."`
	ReadOnly    bool                `json:"readOnly" doc:"Whether the function changes nothing."`
	Arguments   map[string]Argument `json:"arguments" nullable:"false"`
	Returns     Returns             `json:"returns"`
}

// Argument describes an argument of a [Descriptor].
type Argument struct {
	Type        string          `json:"type" doc:"string, number, boolean, object, array or any."`
	Required    bool            `json:"required"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty" nullable:"false"`
	Minimum     json.Number     `json:"minimum,omitempty"`
	Maximum     json.Number     `json:"maximum,omitempty"`
	MinLength   int             `json:"minLength,omitempty"`
	MaxLength   int             `json:"maxLength,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// Returns describes the result of a [Descriptor].
type Returns struct {
	Type       string              `json:"type"`
	Properties map[string]Property `json:"properties" nullable:"false"`
}

// Property describes a member of a result.
type Property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

func (r *Registry) add(f *function) error {
	r.adding.Lock()
	defer r.adding.Unlock()
	old := r.catalogue.Load()
	if old.byName[f.tool.Name] != nil {
		return errors.New("a function with this name is already registered")
	}
	next := *old
	next.order = append(slices.Clip(old.order), f)
	next.byName = maps.Clone(old.byName)
	next.byName[f.tool.Name] = f
	r.catalogue.Store(&next)
	return nil
}

// Release sets the version of the functions registered so far, as a published
// catalogue: patch for changed texts, minor for additions, major for other changes.
// Functions registered later add "+" and a hash to [Registry.Version].
func (r *Registry) Release(version string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	next := *r.catalogue.Load()
	next.released, next.version = len(next.order), version
	r.catalogue.Store(&next)
}

// Version returns the semantic version of the catalogue.
func (r *Registry) Version() string {
	c := r.catalogue.Load()
	version := cmp.Or(c.version, "0.0.0")
	added := slices.Clone(c.order[c.released:])
	if len(added) == 0 {
		return version
	}
	slices.SortFunc(added, func(a, b *function) int { return cmp.Compare(a.tool.Name, b.tool.Name) })
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, f := range added {
		_ = enc.Encode(f.tool) // encoding texts and valid JSON cannot fail
	}
	return version + "+" + hex.EncodeToString(h.Sum(nil)[:4])
}

// Tools returns all functions, in the order of their registration.
func (r *Registry) Tools() []Tool {
	c := r.catalogue.Load()
	out := make([]Tool, len(c.order))
	for i, f := range c.order {
		out[i] = f.tool
	}
	return out
}

// Allowed reports whether the function exists and the caller may call it.
func (r *Registry) Allowed(c Caller, name string) bool {
	f := r.catalogue.Load().byName[name]
	if f == nil || !c.may(PermissionExecute) {
		return false
	}
	allowed, _ := f.allowed(c)
	return allowed
}

// Functions describes all functions, in the order of their registration.
func (r *Registry) Functions() []Descriptor {
	c := r.catalogue.Load()
	out := make([]Descriptor, len(c.order))
	for i, f := range c.order {
		out[i] = f.describe()
	}
	return out
}

func (f *function) describe() Descriptor {
	t := f.tool
	d := Descriptor{
		Name: t.Name, Title: cmp.Or(t.Title, t.Name), Description: t.Description, Permission: t.Permission, ReadOnly: t.ReadOnly,
		Arguments: map[string]Argument{}, Returns: Returns{Type: "object", Properties: map[string]Property{}},
	}
	for _, a := range f.in.fields {
		s := a.shape.schema()
		d.Arguments[a.name] = Argument{
			Type: described(s.Type), Required: a.required, Description: s.Description, Enum: s.Enum, Minimum: s.Minimum, Maximum: s.Maximum,
			MinLength: cmp.Or(s.MinLength, s.MinItems), MaxLength: cmp.Or(s.MaxLength, s.MaxItems), Default: s.Default,
		}
	}
	for _, p := range f.out.fields {
		d.Returns.Properties[p.name] = Property{Type: described(p.shape.bare().Type), Description: p.shape.doc}
	}
	return d
}

// described returns the type of a descriptor for a type of JSON Schema.
func described(t string) string {
	switch t {
	case "integer":
		return "number"
	case "":
		return "any"
	}
	return t
}
