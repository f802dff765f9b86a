package messaging_test

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A bot that answers every message, until the program is interrupted.
func ExampleOptions_onMessage() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	db := sqldb.MustOpen(ctx, "sqlite://bot.db")
	chats, err := messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{sandbox.New()},
		OnMessage: func(ctx context.Context, m messaging.Message, reply *messaging.Replier) error {
			return reply.Text(ctx, "You wrote: "+m.Text)
		},
	})
	if err != nil {
		log.Print(err)
		return
	}
	if err := errors.Join(chats.Run(ctx), db.Close()); err != nil {
		log.Print(err)
	}
}
