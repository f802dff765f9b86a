package flow

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Palette describes the language to an editor.
type Palette struct {
	Format string        `json:"format"`
	Limits Limits        `json:"limits"`
	Nodes  []Description `json:"nodes"` // sorted by name
}

// Limits are the limits of documents.
type Limits struct {
	Nodes     int `json:"nodes"`
	Variables int `json:"variables"`
	Functions int `json:"functions"` // functions that one document may need
	Bytes     int `json:"bytes"`     // without ui
	UIBytes   int `json:"uiBytes"`
}

// Description describes a node type to an editor.
type Description struct {
	Name    string   `json:"type"`
	Group   string   `json:"group"`
	Text    string   `json:"text"`
	Engines []string `json:"engines"`
	Outputs []Output `json:"outputs"`
	Pass    string   `json:"pass"` // the output through which a run leaves a disabled node
	Wait    string   `json:"wait,omitempty"`
	Effect  string   `json:"effect,omitempty"`
	Errors  []string `json:"errors"`
	// Config is a JSON Schema whose members are in the order of a form. Besides
	// standard keywords it has x-kind (template, expression, data, duration, bytes,
	// schema, or the name of a pattern), and x-min and x-max where the standard has
	// no keyword for a limit.
	Config json.RawMessage `json:"config"`
}

// Describe describes the node types. The result depends only on the types.
func (t *Types) Describe() Palette {
	p := Palette{
		Format: Format,
		Limits: Limits{Nodes: 1000, Variables: 200, Functions: maxFunctions, Bytes: MaxBytes, UIBytes: maxUIBytes},
	}
	for _, name := range t.names() {
		p.Nodes = append(p.Nodes, t.get(name).describe())
	}
	return p
}

func (t *nodeType) describe() Description {
	engines := t.Engines
	if len(engines) == 0 {
		engines = []string{EngineBot, EngineFlow}
	}
	return Description{
		Name: t.Name, Group: t.Group, Text: t.Text, Engines: slices.Clone(engines),
		Outputs: append([]Output{}, t.Outputs...), Pass: t.pass(), Wait: t.Wait, Effect: t.Effect,
		Errors: append([]string{}, t.Errors...), Config: t.all().schema(&rules{}).write(nil, false),
	}
}

// Schema returns a JSON Schema of whole documents with these node types. It checks
// only the shape; [Types.Compile] checks the meaning.
func (t *Types) Schema() json.RawMessage {
	var cases []*tree
	for _, name := range t.names() {
		config := t.get(name).all().schema(&rules{})
		then := branch(member{"properties", branch(member{"config", config})})
		if config.get("required") != nil {
			then.members = append(then.members, member{"required", list("config")})
		}
		is := branch(member{"properties", branch(member{"type", leaf("const", name)})})
		cases = append(cases, branch(member{"if", is}, member{"then", then}))
	}
	document := documentShape().schema(&rules{})
	node := document.at("properties", "nodes", "additionalProperties")
	node.at("properties").replace("type", branch(member{"enum", list(t.names()...)}))
	node.members = append(node.members, member{"allOf", &tree{kind: kindArray, items: cases}})
	document.members = append([]member{
		{"$schema", &tree{kind: kindString, text: "https://json-schema.org/draft/2020-12/schema"}},
		{"$id", &tree{kind: kindString, text: Format}},
	}, document.members...)
	document.at("properties").replace("format", leaf("const", Format))
	return document.write(nil, false)
}

// replace replaces the value of a member.
func (t *tree) replace(name string, value *tree) {
	for i := range t.members {
		if t.members[i].name == name {
			t.members[i].value = value
		}
	}
}

// branch returns an object with these members.
func branch(members ...member) *tree { return &tree{kind: kindObject, members: members} }

// list returns a list of strings.
func list(words ...string) *tree {
	t := &tree{kind: kindArray}
	for _, w := range words {
		t.items = append(t.items, &tree{kind: kindString, text: w})
	}
	return t
}

// leaf returns an object with one string.
func leaf(name, value string) *tree {
	t := &tree{kind: kindObject}
	t.word(name, value)
	return t
}

func (t *tree) word(name, value string) {
	t.members = append(t.members, member{name, &tree{kind: kindString, text: value}})
}

func (t *tree) number(name string, value float64) {
	t.members = append(t.members, member{name, &tree{kind: kindNumber, text: strconv.FormatFloat(value, 'f', -1, 64)}})
}

func (t *tree) truth(name string, value bool) {
	t.members = append(t.members, member{name, &tree{kind: kindBool, text: strconv.FormatBool(value)}})
}

// schema returns the JSON Schema of a shape with rules.
func (s *shape) schema(r *rules) *tree {
	switch s.form {
	case formPointer:
		return s.elem.schema(r)
	case formStruct:
		return s.structSchema()
	case formList:
		return s.listSchema(r)
	case formMap:
		return s.mapSchema(r)
	case formData, formAny:
		return leaf("x-kind", "data")
	case formOpen:
		return s.elem.openSchema(r)
	case formSchema:
		t := leaf("type", "object")
		t.word("x-kind", "schema")
		return t
	case formRaw:
		if r.any {
			return &tree{kind: kindObject}
		}
		return leaf("type", "object")
	case formBool:
		return leaf("type", "boolean")
	case formInteger, formNumber:
		return s.numberSchema(r)
	}
	return s.textSchema(r)
}

// openSchema returns the JSON Schema of a value that may be a template.
func (s *shape) openSchema(r *rules) *tree {
	switch s.form {
	case formString:
		return (&shape{form: formText}).textSchema(r)
	case formInteger, formNumber:
		t := s.numberSchema(r)
		t.replace("type", list(t.get("type").text, "string"))
		t.word("x-kind", "data")
		return t
	}
	return s.schema(r)
}

func (s *shape) structSchema() *tree {
	properties, required := branch(), list()
	for i := range s.fields {
		f := &s.fields[i]
		p := f.shape.schema(&f.rules)
		if f.doc != "" {
			p.word("description", f.doc)
		}
		if f.def != nil {
			p.members = append(p.members, member{"default", f.def})
		}
		properties.members = append(properties.members, member{f.name, p})
		if f.alias != "" {
			alias := f.shape.schema(&f.rules)
			alias.truth("deprecated", true)
			properties.members = append(properties.members, member{f.alias, alias})
		}
		if f.required && f.alias == "" {
			required.items = append(required.items, &tree{kind: kindString, text: f.name})
		}
	}
	t := leaf("type", "object")
	t.truth("additionalProperties", false)
	if len(required.items) > 0 {
		t.members = append(t.members, member{"required", required})
	}
	t.members = append(t.members, member{"properties", properties})
	return t
}

func (s *shape) listSchema(r *rules) *tree {
	t := leaf("type", "array")
	t.bounds(r, "minItems", "maxItems")
	t.members = append(t.members, member{"items", s.elem.schema(r.items())})
	return t
}

func (s *shape) mapSchema(r *rules) *tree {
	t := leaf("type", "object")
	t.bounds(r, "minProperties", "maxProperties")
	if p := values.Patterns[r.keys]; p != nil {
		t.members = append(t.members, member{"propertyNames", leaf("pattern", p().String())})
	}
	t.members = append(t.members, member{"additionalProperties", s.elem.schema(r.items())})
	return t
}

func (s *shape) numberSchema(r *rules) *tree {
	t := leaf("type", "number")
	if s.form == formInteger {
		t = leaf("type", "integer")
	}
	t.bounds(r, "minimum", "maximum")
	return t
}

// textKinds are the values of x-kind for forms that are strings.
var textKinds = map[form]string{formDuration: "duration", formBytes: "bytes", formText: "template", formExpression: "expression"}

func (s *shape) textSchema(r *rules) *tree {
	t := leaf("type", "string")
	switch s.form {
	case formBytes:
		t = branch(member{"type", list("string", "integer")})
		t.word("x-kind", "bytes")
		t.bounds(r, "x-min", "x-max")
		return t
	case formDuration, formText, formExpression:
		t.word("x-kind", textKinds[s.form])
		if s.form == formDuration {
			t.word("pattern", values.IsoDuration().String())
		}
		t.bounds(r, "x-min", "x-max")
		return t
	}
	t.bounds(r, "minLength", "maxLength")
	if p := values.Patterns[r.pattern]; p != nil {
		t.word("pattern", p().String())
		t.word("x-kind", r.pattern)
	}
	if r.enum != nil {
		t.members = append(t.members, member{"enum", list(r.enum...)})
	}
	return t
}

func (t *tree) bounds(r *rules, least, limit string) {
	if r.min != nil {
		t.number(least, *r.min)
	}
	if r.max != nil {
		t.number(limit, *r.max)
	}
}
