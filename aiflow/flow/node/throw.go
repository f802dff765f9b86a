package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// throwConfig is the configuration of a node that raises an error.
type throwConfig struct {
	Code    string    `json:"code" required:"true" max:"64" pattern:"code" doc:"Code of the error, for example order.not_found"`
	Message flow.Text `json:"message" max:"1000" doc:"Text of the error, for people."`
}

func throwType() flow.NodeType {
	return flow.NodeType{
		Name: "throw", Group: "flow", Text: "Raises an error. The loop or call around it handles the error, otherwise onError of the settings.",
		Engines: modern(), Config: func() flow.Config { return &throwConfig{} },
	}
}

func (*throwConfig) Outputs() []string   { return nil }
func (*throwConfig) Check(*flow.Checker) {}

// Step raises an error.
func (cfg *throwConfig) Step(t *flow.Turn) (flow.Exit, error) {
	message, err := t.Text(cfg.Message)
	if err != nil {
		return flow.Exit{}, err
	}
	return flow.Exit{}, &flow.Error{Code: cfg.Code, Message: message}
}
