package flow

// Step goes on: what starts a flow is looked at before it starts.
func (*triggerConfig) Step(*Turn) (Exit, error) { return Out("out"), nil }
