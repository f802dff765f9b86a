// Command echobot answers every message with the same text. You type what a contact
// writes on a simulated phone. An answer is stored in the transaction of its
// message: even if the program is killed, each message gets exactly one answer.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	database := flag.String("db", "sqlite://echobot.db", "database")
	flag.Parse()
	if err := run(context.Background(), *database, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "echobot:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, database string, in io.Reader, out io.Writer) error {
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	bot := &echo{}
	bot.chats, err = messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{sandbox.New()}, Sinks: []messaging.Sink{bot}, Exclusive: true,
	})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- bot.chats.Run(working) }()
	err = bot.talk(ctx, in, out)
	stop()
	return errors.Join(err, <-done)
}

// echo receives events in the transactions that store them.
type echo struct{ chats *messaging.Service }

// EventsTx answers the messages of contacts. It only writes rows: the answers are
// sent after the commit.
func (e *echo) EventsTx(ctx context.Context, tx messaging.Tx, events []messaging.Event) error {
	for _, event := range events {
		if event.Type != messaging.EventMessage || event.Actor != messaging.ActorContact {
			continue
		}
		var m messaging.MessagePayload
		if err := json.Unmarshal(event.Payload, &m); err != nil {
			return err
		}
		if m.Type != messaging.TypeText {
			continue
		}
		_, err := e.chats.For(event.Account).SendTx(ctx, tx, messaging.SendRequest{
			Reference: event.Reference, ChatID: event.ChatID, Content: provider.Text{Text: m.Text},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// talk sends each typed line from a contact's phone, and prints the answer.
func (e *echo) talk(ctx context.Context, in io.Reader, out io.Writer) error {
	acc := e.chats.For(messaging.OneAccount)
	line, err := acc.References().Create(ctx, messaging.NewReference{Name: "Echo", Type: sandbox.Kind}) // simulated phones
	if err != nil {
		return err
	}
	news, err := acc.Changes(ctx, line.ID, "")
	if err != nil {
		return err
	}
	phone := sandbox.Phone{Inbox: e.chats, Reference: line.ID, Name: "ana"}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if _, err := phone.Write(ctx, provider.Text{Text: lines.Text()}); err != nil {
			return err
		}
		answer, err := delivered(ctx, news)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, ">", answer)
	}
	return nil
}

// delivered waits until an answer has arrived on the phone, and returns its text.
func delivered(ctx context.Context, news *messaging.ChangeStream) (string, error) {
	for {
		entries, err := news.Next(ctx, time.Minute)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			var m messaging.MessagePayload
			if err := json.Unmarshal(e.Data, &m); err != nil {
				return "", err
			}
			if e.Kind == "status" && m.Status == "DELIVERED" {
				return m.Text, nil
			}
		}
	}
}
