package web_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
	"github.com/trunklinehq/trunkline/sqldb"
)

// events is an inbox that hands on what it gets. In a program it is the
// messaging service.
type events chan provider.Event

func (in events) Receive(_ context.Context, _ provider.ReferenceID, evs []provider.Event) error {
	for _, e := range evs {
		in <- e
	}
	return nil
}

// nextOf is the next event of a kind for which ok holds.
func nextOf[E provider.Event](in events, ok func(E) bool) E {
	for e := range in {
		if e, is := e.(E); is && ok(e) {
			return e
		}
	}
	panic("the inbox was closed")
}

// A reference is linked to the phone of its owner by a QR code. Then a customer
// writes, and gets an answer. A test has the phones of package webtest; a program
// leaves HTTPClient and RootKey out, and a person scans the code.
func Example() {
	ctx, in := context.Background(), make(events, 100)
	network := webtest.Start(nil)
	defer network.Close()
	owner, ana := network.AddPhone(nil), network.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
	db, key := sqldb.MustOpen(ctx, "sqlite://:memory:"), network.RootKey()
	defer db.Close() //nolint:errcheck // nothing is written any more

	refs, err := web.New(ctx, db, &web.Options{HTTPClient: network.HTTPClient(), RootKey: &key})
	if err != nil {
		log.Fatal(err)
	}
	ref, err := refs.Open(ctx, provider.Reference{ID: 1}, in)
	if err != nil {
		log.Fatal(err)
	}
	defer ref.Close(ctx) //nolint:errcheck // the example ends
	if err := ref.(provider.Linker).Link(ctx, ""); err != nil {
		log.Fatal(err)
	}
	shown := nextOf(in, func(c *provider.Connection) bool { return c.QR != "" })
	if _, err := owner.Scan(ctx, shown.QR); err != nil {
		log.Fatal(err)
	}
	fmt.Println(nextOf(in, func(c *provider.Connection) bool { return c.State == provider.Connected }).State)

	if _, err := ana.SendText(ctx, owner.LID(), "Hello"); err != nil {
		log.Fatal(err)
	}
	hello := nextOf(in, func(*provider.Message) bool { return true })
	fmt.Println(hello.From.Name, "writes:", hello.Content.(provider.Text).Text)
	if _, err := ref.Send(ctx, provider.Outbound{ID: refs.NewMessageID(), To: hello.Chat, Content: provider.Text{Text: "Hi Ana"}}); err != nil {
		log.Fatal(err)
	}
	answer, err := ana.AwaitText(ctx, "Hi Ana")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("and reads:", answer.Text())
	// Output:
	// connected
	// Ana writes: Hello
	// and reads: Hi Ana
}
