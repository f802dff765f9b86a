package node

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// contactConfig is the configuration of a node that changes the contact.
type contactConfig struct {
	Ops []contactOp `json:"ops" required:"true" min:"1" max:"20" doc:"Applied in this order."`
}

type contactOp struct {
	Op    string    `json:"op" required:"true" enum:"add_tag,remove_tag,set_field,set_language,opt_in,opt_out" doc:"The change to make."`
	Name  string    `json:"name" max:"64" doc:"set_field: name of the field."`
	Value flow.Data `json:"value" doc:"The tag, the value of the field (null removes it) or the language."`
}

func contactType() flow.NodeType {
	return flow.NodeType{
		Name: "contact", Group: "data", Text: "Changes the contact's tags, fields, language or consent.",
		Outputs: []flow.Output{{Name: "out", Text: "done"}, {Name: "error", Text: "a value has the wrong type"}},
		Effect:  "contact", Errors: []string{"expression.type", "expression.value", "value.type"},
		Config: func() flow.Config { return &contactConfig{} },
	}
}

func (*contactConfig) Outputs() []string { return []string{"out", "error"} }

func (cfg *contactConfig) Check(c *flow.Checker) {
	for i, op := range cfg.Ops {
		switch op.Op {
		case "set_field":
			c.Need(op.Name != "", "ops", i, "name")
			c.Need(op.Value.Present(), "ops", i, "value")
		case "add_tag", "remove_tag", "set_language":
			c.Need(op.Value.Present(), "ops", i, "value")
		}
	}
}

// Step changes the contact. Later nodes see the changes.
func (cfg *contactConfig) Step(t *flow.Turn) (flow.Exit, error) {
	change := flow.ContactChange{Node: t.NodeID()}
	for i := range cfg.Ops {
		if err := cfg.Ops[i].apply(t, &change); err != nil {
			return flow.Exit{}, fmt.Errorf("ops[%d]: %w", i, err)
		}
	}
	err := t.Emit(func(id string) flow.Effect { change.ID = id; return change })
	if err != nil {
		return flow.Exit{}, err
	}
	seeContact(t, change)
	return flow.Out("out"), nil
}

func (o *contactOp) apply(t *flow.Turn, change *flow.ContactChange) error {
	v, err := t.Data(o.Value)
	if err != nil {
		return err
	}
	if v, err = values.Admit(v); err != nil {
		return err
	}
	word := expression.Format(v)
	switch o.Op {
	case "set_field":
		if change.Fields == nil {
			change.Fields = map[string]any{}
		}
		change.Fields[o.Name] = v
		return nil
	case "opt_in", "opt_out":
		out := o.Op == "opt_out"
		change.OptedOut = &out
		return nil
	}
	if word == "" || len(word) > 64 {
		return values.WrongType(o.Op + " needs a text of 1 to 64 characters")
	}
	switch o.Op {
	case "add_tag":
		change.RemoveTags = dropWord(change.RemoveTags, word)
		change.AddTags = append(dropWord(change.AddTags, word), word)
	case "remove_tag":
		change.AddTags = dropWord(change.AddTags, word)
		change.RemoveTags = append(dropWord(change.RemoveTags, word), word)
	case "set_language":
		change.Language = &word
	}
	return nil
}

func dropWord(list []string, word string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == word })
}

// seeContact applies the changes to the environment of the rest of the turn.
func seeContact(t *flow.Turn, c flow.ContactChange) {
	contact := maps.Clone(t.World.Contact)
	if contact == nil {
		contact = map[string]any{}
	}
	if c.Language != nil {
		contact["language"] = *c.Language
	}
	if c.OptedOut != nil {
		contact["optedOut"] = *c.OptedOut
	}
	if c.Fields != nil {
		fields := maps.Clone(values.ObjectOf(contact["fields"]))
		if fields == nil {
			fields = map[string]any{}
		}
		for name, v := range c.Fields {
			fields[name] = v
			if v == nil {
				delete(fields, name)
			}
		}
		contact["fields"] = fields
	}
	if c.AddTags != nil || c.RemoveTags != nil {
		contact["tags"] = tagged(contact["tags"], c)
	}
	t.World.Contact = contact
	t.Env["contact"] = contact
}

func tagged(old any, c flow.ContactChange) []any {
	var tags []any
	list, _ := old.([]any)
	for _, tag := range list {
		if s := values.TextOf(tag); !slices.Contains(c.AddTags, s) && !slices.Contains(c.RemoveTags, s) {
			tags = append(tags, tag)
		}
	}
	for _, tag := range c.AddTags {
		tags = append(tags, tag)
	}
	return tags
}
