package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// flowConfig goes to another flow and does not come back.
type flowConfig struct {
	Flow  string               `json:"flow" required:"true" pattern:"slug" doc:"Slug of a flow of the same project."`
	Input map[string]flow.Data `json:"input" max:"50" doc:"What it begins with."`
}

func flowType() flow.NodeType {
	return flow.NodeType{
		Name: "flow", Group: "flow", Text: "Ends this flow and begins another.",
		Effect: "jump", Errors: []string{"flow.not_found"},
		Config: func() flow.Config { return &flowConfig{} },
	}
}

func (*flowConfig) Outputs() []string   { return nil }
func (*flowConfig) Check(*flow.Checker) {}
