package flow

import (
	"maps"
	"slices"
)

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
	for _, name := range slices.Sorted(maps.Keys(r.Value)) {
		if _, ok := c.document.Returns[name]; !ok {
			c.Problem("return.unknown", "the function does not declare that it returns this", didYouMean(name, keys(c.document.Returns)), "value", name)
		}
	}
	c.required(c.document.Returns, r.Value, "value")
}
