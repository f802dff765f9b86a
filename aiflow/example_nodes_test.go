package aiflow_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A node type of the program's own runs a Go function, whose calls are in the
// journal of the run.
func ExampleOptions_types() {
	type ask struct {
		Item string `json:"item" required:"true" max:"40" doc:"What is asked for."`
	}
	types := node.NewTypes()
	check(types.Register(flow.NodeType{
		Name: "x.stock", Text: "Looks up how many there are.", Repeat: true,
		Outputs: []flow.Output{{Name: "out", Text: "there are some"}, {Name: "none", Text: "there are none"}},
		Run: flow.NodeFunc(func(_ context.Context, _ flow.NodeCall, in ask) (flow.NodeResult, error) {
			left := map[string]int{"cup": 3}[in.Item]
			if left == 0 {
				return flow.NodeResult{Output: "none"}, nil
			}
			return flow.NodeResult{Value: left}, nil
		}),
	}))

	ctx, stop := context.WithCancel(context.Background())
	db := sqldb.MustOpen(ctx, "sqlite://:memory:")
	defer db.Close() //nolint:errcheck // nothing is written any more
	flows, err := aiflow.New(ctx, db, &aiflow.Options{Types: types})
	check(err)
	stopped := make(chan error)
	go func() { stopped <- flows.Run(ctx) }()

	shop := flows.For(aiflow.OneAccount)
	stock, err := shop.Deploy(ctx, aiflow.Deployment{Project: "Shop", Flow: []byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "stock", "name": "Stock", "start": "begin", "variables": {"left": {"type": "integer"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "look"}},
			"look": {"type": "x.stock", "config": {"item": "{{ start.item }}", "saveTo": "left"}, "next": {"out": "some", "none": "none"}},
			"some": {"type": "end", "config": {"result": "{{ vars.left }} left"}},
			"none": {"type": "end", "config": {"result": "sold out"}}
		}
	}`)})
	check(err)
	for _, item := range []string{"cup", "jug"} {
		run, err := shop.Runs().Start(ctx, aiflow.Start{Flow: stock.ID, Input: map[string]any{"item": item}})
		check(err)
		seen, err := shop.Runs().Watch(ctx, run.ID)
		check(err)
		for run = range seen { // until it has ended
		}
		fmt.Println(run.Status, string(run.Output))
	}
	stop()
	check(<-stopped)
	// Output:
	// completed "3 left"
	// completed "sold out"
}
