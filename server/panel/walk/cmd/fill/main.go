// Fill puts chats and messages into a reference of a stopped server's database, as
// many at a time as no sandbox's phone writes: for walks through the panel.
//
//	fill trunkline.db REFERENCE CHATS MESSAGES
//
// Every chat has one message; all others are in that of Ana, the newest chat.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

// batch is how many messages are stored in one transaction.
const batch = 500

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments, 4 are needed", len(args))
	}
	var n [3]int
	for i, arg := range args[1:] {
		var err error
		if n[i], err = strconv.Atoi(arg); err != nil {
			return err
		}
	}
	db, err := sqldb.Open(ctx, "sqlite://"+args[0])
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what was stored is durable
	s, err := messaging.New(ctx, db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	if err != nil {
		return err
	}
	return fill(ctx, s, provider.ReferenceID(n[0]), n[1], n[2])
}

// fill stores the messages from the oldest to the newest, a second apart.
func fill(ctx context.Context, s *messaging.Service, ref provider.ReferenceID, chats, messages int) error {
	total := chats - 1 + messages
	at := time.Now().Add(-time.Duration(total) * time.Second)
	var events []provider.Event
	for i := range total {
		name := "Ana"
		if i < chats-1 {
			name = fmt.Sprintf("Contact %d", i)
		}
		events = append(events, message(i, name, at.Add(time.Duration(i)*time.Second)))
		if len(events) < batch && i < total-1 {
			continue
		}
		if err := s.Receive(ctx, ref, events); err != nil {
			return err
		}
		events = events[:0]
	}
	return nil
}

// message is the i-th; their lengths differ, as those of people do.
func message(i int, name string, at time.Time) *provider.Message {
	id := "ana@sandbox"
	if name != "Ana" {
		id = fmt.Sprintf("contact%d@sandbox", i)
	}
	text := fmt.Sprintf("Message %d", i)
	for range i % 7 * 5 {
		text += " and more of it"
	}
	chat := provider.Address{ChatID: id}
	return &provider.Message{
		ID: fmt.Sprintf("FILL%d", i), Chat: chat, From: provider.Contact{Address: chat, Name: name}, At: at,
		Content: provider.Text{Text: text}, Historical: true,
	}
}
