package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// returnConfig is the configuration of a node that returns from a function.
type returnConfig struct {
	Name  string               `json:"name" default:"default" pattern:"id" doc:"Name of the output: the call node continues at its output return:<name>."`
	Value map[string]flow.Data `json:"value" max:"32" doc:"The returned values, as the function declares them."`
}

func returnType() flow.NodeType {
	return flow.NodeType{
		Name: "return", Group: "flow", Text: "Ends a function and returns values.",
		Engines: modern(), Config: func() flow.Config { return &returnConfig{} },
	}
}

func (*returnConfig) Outputs() []string { return nil }

func (cfg *returnConfig) Check(c *flow.Checker) {
	if c.Document.Kind != flow.KindFunction {
		c.Problem("return.flow", "a flow cannot return", "use an end node")
		return
	}
	c.Given("return.value", "returned value", cfg.Value, c.Document.Returns, "value")
}

// Step returns from the function with values.
func (cfg *returnConfig) Step(t *flow.Turn) (flow.Exit, error) { return t.Return(cfg.Name, cfg.Value) }
