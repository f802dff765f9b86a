package flow

// returnConfig ends a function.
type returnConfig struct {
	Name  string          `json:"name" default:"default" pattern:"id" doc:"Which way it returns: the output return:<name> of the call."`
	Value map[string]Data `json:"value" max:"32" doc:"What it returns, as the function declares it."`
}

func returnType() NodeType {
	return NodeType{
		Name: "return", Group: "flow", Text: "Ends a function and gives values back.",
		Engines: modern(), Config: func() Config { return &returnConfig{} },
	}
}

func (*returnConfig) Outputs() []string { return nil }

func (r *returnConfig) Check(c *Checker) {
	if c.document.Kind != KindFunction {
		c.Problem("return.flow", "a flow cannot return", "use end")
		return
	}
	c.given("return.value", "returned value", r.Value, c.document.Returns, "value")
}
