// Command ownnode answers with a flow that uses a custom node type: x.town, in
// town.go. You type what a contact writes on a simulated phone.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

//go:embed flow.json
var delivery []byte

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ownnode:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	s, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{"a secret of this example, which keeps nothing"},
		Nodes: []flow.NodeType{town()}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	line, err := s.Messaging.For(messaging.OneAccount).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		return err
	}
	bots := s.Bots.For(messaging.OneAccount)
	bot, err := bots.Bots().Create(ctx, botengine.NewBot{Reference: int64(line.ID), Name: "Delivery", Flow: delivery})
	if err != nil {
		return err
	}
	if _, err := bots.Versions().Publish(ctx, bot.ID); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(working) }()
	err = talk(ctx, s.Messaging, line.ID, in, out)
	stop()
	return errors.Join(err, <-done)
}
