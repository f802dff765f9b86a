package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// endConfig ends the run.
type endConfig struct {
	Status string    `json:"status" default:"completed" enum:"completed,cancelled,failed" doc:"How the run ends."`
	Result flow.Data `json:"result" doc:"The run's output."`
}

func endType() flow.NodeType {
	return flow.NodeType{
		Name: "end", Group: "flow", Text: "Ends the run, however deep in loops and functions.",
		Config: func() flow.Config { return &endConfig{} },
	}
}

func (*endConfig) Outputs() []string   { return nil }
func (*endConfig) Check(*flow.Checker) {}
