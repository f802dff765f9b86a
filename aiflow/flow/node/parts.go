package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// memoryConfig is what a model is told of earlier.
type memoryConfig struct {
	Scope    string `json:"scope" default:"run" enum:"none,run,chat,contact" doc:"Whose messages are remembered."`
	Messages int    `json:"messages" default:"20" min:"0" max:"200" doc:"At most."`
	Tokens   int    `json:"tokens" default:"8000" min:"0" max:"1000000" doc:"At most."`
	Summary  bool   `json:"summary" default:"false" doc:"Whether what falls out is summed up."`
}

// outputConfig is what a model must answer.
type outputConfig struct {
	Mode   string      `json:"mode" default:"text" enum:"text,json" doc:"A text, or JSON of the schema."`
	Schema flow.Schema `json:"schema" max:"32768" doc:"JSON Schema of the answer, with mode json."`
	Repair int         `json:"repair" default:"1" min:"0" max:"2" doc:"How often the model may correct an answer that does not fit."`
}

func (o *outputConfig) check(c *flow.Checker, at ...any) {
	if o.Mode == "json" {
		c.Need(o.Schema.Present(), append(at, "schema")...)
	}
}
