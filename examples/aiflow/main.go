// Command aiflow uses package aiflow alone, without chats, accounts and the server.
// It deploys a flow and a function that the flow calls for each item of an order,
// runs the flow, and prints each step.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	database := flag.String("db", "sqlite://aiflow.db", "database")
	flag.Parse()
	if err := run(context.Background(), *database, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "aiflow:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, database string, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	db, err := sqldb.Open(ctx, database) // or an existing *sqlx.DB
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	flows, err := aiflow.New(ctx, db, nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- flows.Run(ctx) }() // executes steps, including those of an earlier run of the program
	account := flows.For(aiflow.OneAccount)
	// A second run of the program finds both unchanged and publishes nothing.
	deployed, err := account.Deploy(ctx, aiflow.Deployment{Project: "Shop", Flow: text(invoice()), Functions: []json.RawMessage{text(vat())}})
	if err != nil {
		return err
	}
	started, err := account.Runs().Start(ctx, aiflow.Start{Flow: deployed.ID, Input: map[string]any{
		"items": []any{map[string]any{"name": "cup", "price": 10}, map[string]any{"name": "jug", "price": 35}},
	}})
	if err != nil {
		return err
	}
	if err := trace(ctx, account, started.ID, out); err != nil {
		return err
	}
	stop()
	return <-done
}

// trace waits for the end of a run and prints its steps and its output.
func trace(ctx context.Context, account *aiflow.Account, id string, out io.Writer) error {
	seen, err := account.Runs().Watch(ctx, id)
	if err != nil {
		return err
	}
	for range seen { // until the run has ended
	}
	d, err := account.Runs().Get(ctx, id)
	if err != nil {
		return err
	}
	for _, step := range d.Steps {
		at := strings.Join(append(step.Path, step.Node), " ")
		made, err := json.Marshal(step.Out)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%2d %-28s %-8s %s\n", step.Seq, at, step.Output, made)
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", d.Status, d.Output)
	return err
}

// text encodes a document, which has only strings, lists and maps.
func text(doc document) json.RawMessage {
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}
