package flow

// endConfig ends the run.
type endConfig struct {
	Status string `json:"status" default:"completed" enum:"completed,cancelled,failed" doc:"How the run ends."`
	Result Data   `json:"result" doc:"The run's output."`
}

func endType() NodeType {
	return NodeType{
		Name: "end", Group: "flow", Text: "Ends the run, however deep in loops and functions.",
		Config: func() Config { return &endConfig{} },
	}
}

func (*endConfig) Outputs() []string { return nil }
func (*endConfig) Check(*Checker)    {}
