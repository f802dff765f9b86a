package flow

// breakConfig and continueConfig have nothing to say.
type (
	breakConfig    struct{}
	continueConfig struct{}
)

func breakType() NodeType {
	return NodeType{
		Name: "break", Group: "flow", Text: "Ends the loop around it; the loop leaves through done.",
		Engines: modern(), Config: func() Config { return &breakConfig{} },
	}
}

func continueType() NodeType {
	return NodeType{
		Name: "continue", Group: "flow", Text: "Ends this round of the loop around it.",
		Engines: modern(), Config: func() Config { return &continueConfig{} },
	}
}

func (*breakConfig) Outputs() []string    { return nil }
func (*breakConfig) Check(c *Checker)     { c.inLoop() }
func (*continueConfig) Outputs() []string { return nil }
func (*continueConfig) Check(c *Checker)  { c.inLoop() }
