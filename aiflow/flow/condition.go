package flow

// conditionConfig takes the first branch that is true.
type conditionConfig struct {
	Branches []conditionBranch `json:"branches" required:"true" min:"1" max:"20" doc:"In their order; the first that is true wins."`
	Strict   bool              `json:"strict" default:"false" doc:"Whether an expression that fails goes to error; else it goes to else."`
}

type conditionBranch struct {
	ID    string     `json:"id" required:"true" pattern:"id" doc:"Names the output."`
	Label string     `json:"label" max:"64" doc:"For people."`
	When  Expression `json:"when" required:"true" want:"boolean" doc:"True or false."`
}

func conditionType() NodeType {
	return NodeType{
		Name: "condition", Group: "flow", Text: "Goes the first way whose condition is true.",
		Outputs: []Output{{"<branch id>", "the first that is true"}, {"else", "none is"}, {"error", "an expression failed, with strict"}},
		Pass:    "else",
		Errors:  []string{"expression.type", "expression.value"},
		Config:  func() Config { return &conditionConfig{} },
	}
}

func (c *conditionConfig) Outputs() []string {
	outs := []string{"else", "error"}
	for _, b := range c.Branches {
		outs = append(outs, b.ID)
	}
	return outs
}

func (c *conditionConfig) Check(k *Checker) {
	for i, b := range c.Branches {
		k.ownID(b.ID, "branches", i, "id")
	}
}
