package runtime_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/sqldb"
)

// screen is a chat service whose chats all end here.
type screen struct{}

func (screen) Snapshot(_ context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{Chat: map[string]any{"id": c.ID}}, nil
}

func (screen) SendTx(_ context.Context, _ runtime.Tx, r runtime.Run, s flow.Send) (string, error) {
	fmt.Println(r.Chat.ID, "reads", string(s.Message))
	return r.ID + s.ID, nil
}

// A run waits in a chat, for as long as it takes, until somebody answers.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	runs, err := runtime.New(ctx, db, screen{}, nil)
	check(err)
	stopped := make(chan error)
	go func() { stopped <- runs.Run(ctx) }()

	greeting, _ := flow.Decode([]byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "greeting", "name": "Greeting", "start": "begin",
		"variables": {"name": {"type": "string"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "ask"}},
			"ask": {"type": "question", "config": {"prompt": {"text": "What is your name?"}, "saveTo": "name"}, "next": {"out": "greet"}},
			"greet": {"type": "message", "config": {"text": "Hello, {{ vars.name }}!"}}
		}
	}`))
	shop := runs.For("shop")
	run, err := shop.Start(ctx, runtime.Start{
		Engine: "mine", Source: runtime.Source{Document: greeting},
		Chat: runtime.Chat{Account: "shop", Reference: 1, Key: "1:ana", ID: "ana"}, Wait: time.Minute,
	})
	check(err)
	fmt.Println(run.Status, run.WaitsFor)
	run, err = shop.Reply(ctx, run.ID, map[string]any{"type": "text", "text": "Ana"})
	check(err)
	fmt.Println(run.Status)
	stop()
	check(<-stopped)
	// Output:
	// ana reads {"type":"text","text":"What is your name?"}
	// waiting reply
	// ana reads {"type":"text","text":"Hello, Ana!"}
	// completed
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
