package botengine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/sqldb"
)

// screen is a chat service whose chats all end here.
type screen struct{ shown chan string }

func (screen) Snapshot(_ context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{Chat: map[string]any{"id": c.ID}}, nil
}

func (s screen) SendTx(_ context.Context, _ runtime.Tx, r runtime.Run, e flow.Send) (string, error) {
	s.shown <- string(e.Message)
	return r.ID + e.ID, nil
}

// A bot is made for a reference, published, and answers what is written there.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	phone := screen{make(chan string, 1)}
	runs, err := runtime.New(ctx, db, phone, nil)
	check(err)
	bots, err := botengine.New(ctx, db, runs, nil)
	check(err)
	stopped := make(chan error)
	go func() { stopped <- runs.Run(ctx) }()

	shop := bots.For(botengine.OneAccount)
	bot, err := shop.Bots().Create(ctx, botengine.NewBot{Reference: 1, Name: "Hours", Trigger: botengine.TriggerKeyword, Keywords: []string{"hours"}, Flow: []byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "hours", "name": "Hours", "start": "begin",
		"nodes": {
			"begin": {"type": "trigger", "next": {"out": "tell"}},
			"tell": {"type": "message", "config": {"text": "From nine to six."}}
		}
	}`)})
	check(err)
	bot, err = shop.Versions().Publish(ctx, bot.ID)
	check(err)
	fmt.Println(bot.Status, bot.Trigger.First, bot.Version)

	// What a program that has references does with a message.
	tx, err := db.BeginTxx(ctx, nil)
	check(err)
	check(runs.IncomingTx(ctx, tx, runtime.Incoming{
		Chat:    runtime.Chat{Account: botengine.OneAccount, Reference: 1, Key: "1:ana", ID: "ana"},
		Message: map[string]any{"id": "m1", "type": "text", "text": "hours"}, Inbound: flow.Inbound{Text: "hours"},
	}))
	check(tx.Commit())
	fmt.Println(<-phone.shown)
	stop()
	check(<-stopped)
	// Output:
	// published keyword 1
	// {"type":"text","text":"From nine to six."}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
