package simulate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

// TestOwnNode answers the calls of a node type of one's own with mocks: its
// function is not called.
func TestOwnNode(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	type config struct {
		Item string `json:"item" required:"true"`
	}
	require.NoError(t, types.Register(flow.NodeType{
		Name: "x.stock", Text: "Looks up how many there are.", Outputs: []flow.Output{{Name: "out"}, {Name: "none"}},
		Run: flow.NodeFunc(func(context.Context, flow.NodeCall, config) (flow.NodeResult, error) {
			return flow.NodeResult{}, errors.New("nobody should call this")
		}),
	}))
	d, problems := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"t","variables":{"n":{"type":"integer"}},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"look"}},
		"look":{"type":"x.stock","config":{"item":"{{ start.text }}","retry":{"max":1},"saveTo":"n"},"next":{"out":"some","none":"none","error":"sorry"}},
		"some":{"type":"message","config":{"text":"There are {{ vars.n }}."}},"none":{"type":"message","config":{"text":"Sold out."}},
		"sorry":{"type":"message","config":{"text":"{{ error.code }}"}}}}`))
	require.NotNil(t, d, "%v", problems)
	p, problems := types.Compile(d, nil)
	require.NotNil(t, p, "%v", problems)
	tests, err := simulate.ParseTests([]byte(`[
		{"name":"some","given":{"input":{"text":"cups"},"mocks":[{"kind":"node","result":{"value":3}}]},
			"steps":[{"expect":{"did":"call","node":"look","data":{"type":"x.stock","config":{"item":"cups"}}}},{"expect":"There are 3."},{"expect":{"vars":{"n":3}}}]},
		{"name":"none","given":{"input":{"text":"cups"},"mocks":[{"node":"look","result":{"output":"none"}}]},"steps":[{"expect":"Sold out."}]},
		{"name":"again","given":{"input":{"text":"cups"},"mocks":[{"kind":"node","times":1,"error":{"code":"node.unavailable","message":"Not now."}},{"kind":"node","result":{"value":2}}]},
			"steps":[{"expect":{"waits":"effect"}},{"advance":"PT1S"},{"expect":"There are 2."}]},
		{"name":"no mock","given":{"input":{"text":"cups"}},"steps":[{"expect":"simulate.no_mock"}]}
	]`))
	require.NoError(t, err)
	report, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	for _, o := range report.Tests {
		require.Nil(t, o.Failure, "%s: %+v", o.Name, o.Failure)
	}
	require.Empty(t, report.Coverage.MissingOutputs)
}
