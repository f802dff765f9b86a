package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/trunklinehq/trunkline/aiflow"
)

//go:embed flow.json
var document []byte

func main() {
	ctx := context.Background()
	db := sqlx.MustConnect("sqlite", "file:flows.db?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	flows, err := aiflow.New(ctx, db, nil)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(flows.Run(ctx)) }() // takes the steps, also those that an earlier run of the program left

	shop := flows.For(aiflow.OneAccount)
	price, err := shop.Deploy(ctx, aiflow.Deployment{Project: "Shop", Flow: document})
	if err != nil {
		log.Fatal(err)
	}
	run, err := shop.Runs().Start(ctx, aiflow.Start{Flow: price.ID, Input: map[string]any{"cups": 3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(run.Output))
}
