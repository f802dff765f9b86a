package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// endConfig is the configuration of a node that ends the run.
type endConfig struct {
	Status string    `json:"status" default:"completed" enum:"completed,cancelled,failed" doc:"Final status of the run."`
	Result flow.Data `json:"result" doc:"Output of the run."`
}

func endType() flow.NodeType {
	return flow.NodeType{
		Name: "end", Group: "flow", Text: "Ends the run, even within loops and functions.",
		Config: func() flow.Config { return &endConfig{} },
	}
}

func (*endConfig) Outputs() []string   { return nil }
func (*endConfig) Check(*flow.Checker) {}

// Step ends the run, at any depth of loops and functions.
func (cfg *endConfig) Step(t *flow.Turn) (flow.Exit, error) {
	result, err := t.Data(cfg.Result)
	if err != nil {
		return flow.Exit{}, err
	}
	if result, err = values.Admit(result); err != nil {
		return flow.Exit{}, values.At(err, "result")
	}
	e := flow.Ending{Status: flow.Status(cfg.Status), Output: result}
	if e.Status == flow.StatusFailed {
		e.Error = t.Scope().Error
	}
	if result != nil {
		t.Note(nil, map[string]any{"result": result})
	}
	return t.End(e), nil
}
