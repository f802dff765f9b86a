package aiflow_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/sqldb"
)

const total = `{
	"format": "trunkline-flow/1", "kind": "flow", "slug": "total", "name": "Total", "start": "begin",
	"nodes": {
		"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "end"}},
		"end": {"type": "end", "config": {"result": {"total": "{{ sum(start.prices) }}"}}}
	}
}`

// A flow is drawn, published and run.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	flows, err := aiflow.New(ctx, db, nil)
	check(err)
	stopped := make(chan error)
	go func() { stopped <- flows.Run(ctx) }()

	shop := flows.For(aiflow.OneAccount)
	project, err := shop.Projects().Create(ctx, aiflow.NewProject{Name: "Shop"})
	check(err)
	flow, err := shop.Flows().Create(ctx, aiflow.NewFlow{Project: project.ID, Name: "Total", Draft: []byte(total)})
	check(err)
	_, err = shop.Versions().Publish(ctx, flow.ID, aiflow.Publisher{})
	check(err)

	run, err := shop.Runs().Start(ctx, aiflow.Start{Flow: flow.ID, Input: map[string]any{"prices": []any{10, 35}}})
	check(err)
	fmt.Println(run.Status, string(run.Output))
	stop()
	check(<-stopped)
	// Output: completed {"total":45}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
