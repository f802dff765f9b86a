package protocol_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

type orderArguments struct {
	Reference int64  `json:"reference" doc:"Number of the order." minimum:"1"`
	ID        string `json:"id" doc:"Whose it is." maxLength:"40"`
}

type order struct {
	Reference int64  `json:"reference"`
	ID        string `json:"id"`
	State     string `json:"state"`
}

type search struct {
	Owner string `json:"owner,omitempty"`
	Text  string `json:"text,omitempty"`
}

type found struct {
	Orders []order `json:"orders"`
}

// shop is a registry with one function for each way a call can end.
type shop struct {
	*mcp.Registry
	began chan struct{} // "wait" is running
	ended chan error    // why its context ended
	opts  protocol.Options
}

func newShop(t testing.TB, opts *mcp.Options) *shop {
	t.Helper()
	s := &shop{Registry: registry(t, opts), began: make(chan struct{}, 1), ended: make(chan error, 1)}
	s.opts = protocol.Options{
		Resources: []protocol.Resource{{
			Template: "shop://order/{reference}/of/{id}", Name: "order", Title: "An order", Description: "What became of it.", Function: "order_state",
		}},
		Completions: []protocol.Completion{
			{Argument: "reference", Function: "find_orders", List: "orders", Value: "reference"},
			{Argument: "id", Function: "find_orders", Given: []string{"owner"}, Search: "text", List: "orders", Value: "id"},
		},
		Prompts: []protocol.Prompt{
			{
				Name: "chase", Title: "Chase an order", Description: "Writes a reminder.",
				Arguments: []protocol.PromptArgument{
					{Name: "reference", Description: "Its number.", Required: true}, {Name: "id", Description: "Whose.", Required: true}, {Name: "tone"},
				},
				Text: "Remind them of order {reference}. Tone: {tone}", Resource: "shop://order/{reference}/of/{id}", Functions: []string{"order_state"},
			},
			{Name: "cancel", Text: "Cancel an order.", Functions: []string{"cancel_order"}},
		},
	}
	add(t, s, mcp.Function[orderArguments, order]{
		Name: "order_state", Title: "State of an order", Description: "Says whether an order has left.", Permission: "orders.read", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in orderArguments) (order, error) {
			if in.ID == "nobody" {
				return order{}, &mcp.Error{Code: mcp.CodeNotFound, Message: "there is no such order"}
			}
			return order{in.Reference, in.ID, "sent"}, nil
		},
	})
	add(t, s, mcp.Function[search, found]{
		Name: "find_orders", Description: "Finds orders.", Permission: "orders.read", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in search) (found, error) {
			out := found{}
			for reference := range int64(150) {
				if in.Owner == "" || in.Owner == "ana" || in.Owner == "ben" && reference < 2 {
					out.Orders = append(out.Orders, order{reference + 1, in.Owner + in.Text, "sent"})
				}
			}
			return out, nil
		},
	})
	add(t, s, mcp.Function[nothing, said]{
		Name: "cancel_order", Description: "Cancels an order.", Permission: "orders.write", Destructive: true, Idempotent: true,
		Handler: func(context.Context, mcp.Call, nothing) (said, error) { return said{"cancelled"}, nil },
	})
	add(t, s, mcp.Function[nothing, said]{
		Name: "panics", Description: "Panics.",
		Handler: func(context.Context, mcp.Call, nothing) (said, error) { panic("a secret") },
	})
	add(t, s, mcp.Function[nothing, said]{
		Name: "waits", Description: "Waits until nobody does.",
		Handler: func(ctx context.Context, c mcp.Call, _ nothing) (said, error) {
			c.Progress(1, 2, "waiting")
			s.began <- struct{}{}
			<-ctx.Done()
			s.ended <- context.Cause(ctx)
			return said{}, ctx.Err()
		},
	})
	add(t, s, mcp.Function[nothing, said]{
		Name: "late", Description: "Takes too long.", Timeout: 200 * time.Millisecond,
		Handler: func(ctx context.Context, _ mcp.Call, _ nothing) (said, error) {
			<-ctx.Done()
			return said{}, ctx.Err()
		},
	})
	add(t, s, mcp.Function[nothing, said]{
		Name: "counts", Description: "Counts to four.",
		Handler: func(_ context.Context, c mcp.Call, _ nothing) (said, error) {
			for i := range 4 {
				c.Progress(float64(i+1), 4, "counting")
			}
			return said{"four"}, nil
		},
	})
	return s
}

func add[In, Out any](t testing.TB, s *shop, f mcp.Function[In, Out]) {
	t.Helper()
	require.NoError(t, mcp.Register(s.Registry, f))
}
