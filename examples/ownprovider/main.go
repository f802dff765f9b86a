// Command ownprovider answers on a custom kind of reference: package tcpline, for a
// gateway with a TCP protocol. The engine gives it everything that other references
// have: order, retries, sessions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/trunklinehq/trunkline/examples/ownprovider/tcpline"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	gateway := flag.String("gateway", "127.0.0.1:4001", "address of the gateway")
	database := flag.String("db", "sqlite://ownprovider.db", "database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *database, *gateway, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ownprovider:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, database, gateway string, out io.Writer) error {
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	chats, err := messaging.New(ctx, db, &messaging.Options{Providers: []provider.Provider{tcpline.Provider{}}, Exclusive: true})
	if err != nil {
		return err
	}
	acc := chats.For(messaging.OneAccount)
	line, err := open(ctx, acc, gateway)
	if err != nil {
		return err
	}
	news, err := acc.Changes(ctx, line, "")
	if err != nil {
		return err
	}
	if _, err := acc.Sessions().Start(ctx, line); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- chats.Run(working) }()
	err = greet(ctx, acc, news, out)
	if ctx.Err() != nil {
		err = nil // it was asked to end
	}
	stop()
	return errors.Join(err, <-done)
}

// open finds the reference of an earlier run, or creates it.
func open(ctx context.Context, acc *messaging.Account, gateway string) (provider.ReferenceID, error) {
	settings := map[string]string{"gateway": gateway}
	lines, err := acc.References().List(ctx, tcpline.Kind, messaging.List{})
	if err != nil {
		return 0, err
	}
	if len(lines.Items) == 0 {
		made, err := acc.References().Create(ctx, messaging.NewReference{Name: "Gateway", Type: tcpline.Kind, Settings: settings})
		return made.ID, err
	}
	line := lines.Items[0].ID
	_, err = acc.References().Update(ctx, line, messaging.ReferenceChange{Settings: settings})
	return line, err
}

// greet answers every contact by name, until ctx ends.
func greet(ctx context.Context, acc *messaging.Account, news *messaging.ChangeStream, out io.Writer) error {
	for {
		entries, err := news.Next(ctx, time.Minute)
		if err != nil {
			return err
		}
		for _, e := range entries {
			var m messaging.Message
			if e.Kind != "message" || json.Unmarshal(e.Data, &m) != nil || m.Mine {
				continue
			}
			_, _ = fmt.Fprintf(out, "%s writes: %s\n", m.ChatID, m.Text)
			_, err := acc.Send(ctx, messaging.SendRequest{
				Reference: e.Reference, ChatID: m.ChatID, Content: provider.Text{Text: "Hello " + m.ChatID}, IdempotencyKey: "answer-" + m.ID,
			})
			if err != nil {
				return err
			}
		}
	}
}
