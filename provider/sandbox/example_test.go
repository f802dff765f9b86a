package sandbox_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// printer is an inbox that prints what it gets. In a program it is the
// messaging service.
type printer struct{}

func (printer) Receive(_ context.Context, _ provider.ReferenceID, events []provider.Event) error {
	for _, e := range events {
		switch e := e.(type) {
		case *provider.Message:
			fmt.Printf("%s writes: %s\n", e.From.Name, e.Content.(provider.Text).Text)
		case *provider.StatusChange:
			fmt.Println("status:", e.Status)
		}
	}
	return nil
}

// A contact writes, and gets an answer.
func Example() {
	ctx, refs := context.Background(), sandbox.New()
	ana := sandbox.Phone{Inbox: printer{}, Reference: 1, Name: "ana", PushName: "Ana"}
	if _, err := ana.Write(ctx, provider.Text{Text: "Hello"}); err != nil {
		fmt.Println(err)
	}

	ref, err := refs.Open(ctx, provider.Reference{ID: 1}, printer{})
	if err != nil {
		fmt.Println(err)
		return
	}
	to, err := refs.Address("ana")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ref.Send(ctx, provider.Outbound{ID: refs.NewMessageID(), To: to, Content: provider.Text{Text: "Hi Ana"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ana.Read(ctx, answer.MessageID); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Ana writes: Hello
	// status: DELIVERED
	// status: READ
}
