package flow

import "time"

// retryConfig is how often and when a call that failed for now is repeated.
type retryConfig struct {
	Max    int           `json:"max" default:"0" min:"0" max:"5" doc:"Attempts after the first."`
	Delay  time.Duration `json:"delay" default:"PT1S" min:"PT0.1S" max:"PT60S" doc:"Before the second attempt."`
	Factor float64       `json:"factor" default:"2" min:"1" max:"4" doc:"By which the delay grows each time."`
}

// memoryConfig is what a model is told of earlier.
type memoryConfig struct {
	Scope    string `json:"scope" default:"run" enum:"none,run,chat,contact" doc:"Whose messages are remembered."`
	Messages int    `json:"messages" default:"20" min:"0" max:"200" doc:"At most."`
	Tokens   int    `json:"tokens" default:"8000" min:"0" max:"1000000" doc:"At most."`
	Summary  bool   `json:"summary" default:"false" doc:"Whether what falls out is summed up."`
}

// outputConfig is what a model must answer.
type outputConfig struct {
	Mode   string `json:"mode" default:"text" enum:"text,json" doc:"A text, or JSON of the schema."`
	Schema Schema `json:"schema" max:"32768" doc:"JSON Schema of the answer, with mode json."`
	Repair int    `json:"repair" default:"1" min:"0" max:"2" doc:"How often the model may correct an answer that does not fit."`
}

func (o *outputConfig) check(c *Checker, at ...any) {
	if o.Mode == "json" {
		c.Need(o.Schema.Present(), append(at, "schema")...)
	}
}
