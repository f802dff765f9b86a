package main

import (
	"bufio"
	"context"
	"log"
	"os"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	ctx := context.Background()
	db := sqldb.MustOpen(ctx, "sqlite://bot.db")
	chats, err := messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{sandbox.New()},
		OnMessage: func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			return reply.Text(ctx, "You wrote: "+m.Text)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(chats.Run(ctx)) }() // handles, sends, retries

	shop, err := chats.For(messaging.OneAccount).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		log.Fatal(err)
	}
	ana := sandbox.Phone{Inbox: chats, Reference: shop.ID, Name: "ana"}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if _, err := ana.Write(ctx, provider.Text{Text: lines.Text()}); err != nil {
			log.Fatal(err)
		}
	}
}
