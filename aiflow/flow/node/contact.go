package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// contactConfig changes what is known of the contact.
type contactConfig struct {
	Ops []contactOp `json:"ops" required:"true" min:"1" max:"20" doc:"In their order."`
}

type contactOp struct {
	Op    string    `json:"op" required:"true" enum:"add_tag,remove_tag,set_field,set_language,opt_in,opt_out" doc:"What changes."`
	Name  string    `json:"name" max:"64" doc:"set_field: which field."`
	Value flow.Data `json:"value" doc:"The tag, the field's value (null removes it) or the language."`
}

func contactType() flow.NodeType {
	return flow.NodeType{
		Name: "contact", Group: "data", Text: "Changes the contact's tags, fields, language or consent.",
		Outputs: []flow.Output{{Name: "out", Text: "done"}, {Name: "error", Text: "a value does not fit"}},
		Effect:  "contact", Errors: []string{"expression.type", "expression.value", "value.type"},
		Config: func() flow.Config { return &contactConfig{} },
	}
}

func (*contactConfig) Outputs() []string { return []string{"out", "error"} }

func (o *contactConfig) Check(c *flow.Checker) {
	for i, op := range o.Ops {
		switch op.Op {
		case "set_field":
			c.Need(op.Name != "", "ops", i, "name")
			c.Need(op.Value.Present(), "ops", i, "value")
		case "add_tag", "remove_tag", "set_language":
			c.Need(op.Value.Present(), "ops", i, "value")
		}
	}
}
