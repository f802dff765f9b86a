package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// assistantConfig is the configuration of a node that asks a model once.
type assistantConfig struct {
	Model           string           `json:"model" required:"true" max:"128" pattern:"model" doc:"The model, as provider/model."`
	Instructions    flow.Text        `json:"instructions" max:"32768" doc:"The system prompt of the model."`
	Input           flow.Text        `json:"input" default:"{{ input.text }}" max:"32768" doc:"The text that the model answers."`
	Attachments     bool             `json:"attachments" default:"true" doc:"Whether the model sees images and files of the message."`
	Memory          memoryConfig     `json:"memory" doc:"Which earlier messages the model sees."`
	Output          outputConfig     `json:"output" doc:"Form of the answer."`
	Send            bool             `json:"send" default:"true" doc:"Whether the answer is sent to the chat."`
	Temperature     float64          `json:"temperature" default:"0.3" min:"0" max:"2" doc:"Randomness of the answer. 0: the most probable words."`
	MaxOutputTokens int              `json:"maxOutputTokens" default:"1024" min:"1" max:"32768" doc:"Maximum number of tokens of the answer."`
	Timeout         time.Duration    `json:"timeout" default:"PT60S" min:"PT5S" max:"PT300S" doc:"Maximum duration of each attempt."`
	Retry           flow.RetryConfig `json:"retry" doc:"How to retry after a temporary error."`
	FallbackModel   string           `json:"fallbackModel" max:"128" pattern:"model" doc:"Model to use if the first one fails, as provider/model."`
	SaveTo          string           `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the answer is stored."`
}

func assistantType() flow.NodeType {
	return flow.NodeType{
		Name: "assistant", Group: "ai", Text: "Asks a model and sends or stores its answer.",
		Engines: modern(), Effect: "llm",
		Outputs: []flow.Output{
			{Name: "out", Text: "the model has answered"},
			{Name: "invalid", Text: "the answer does not fit the schema"},
			{Name: "refused", Text: "the model refused to answer"},
			{Name: "error", Text: "the model did not answer"},
		},
		Errors: []string{"llm.timeout", "llm.rate_limited", "llm.context_too_long", "llm.content_filter", "budget.exceeded", "output.schema"},
		Config: func() flow.Config { return &assistantConfig{} },
	}
}

func (*assistantConfig) Outputs() []string { return []string{"out", "invalid", "refused", "error"} }

func (cfg *assistantConfig) Check(c *flow.Checker) {
	cfg.Output.check(c, "output")
}

func (cfg *assistantConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Model(cfg.Model, env, "model")
	if cfg.FallbackModel != "" {
		c.Model(cfg.FallbackModel, env, "fallbackModel")
	}
}
