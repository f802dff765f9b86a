// Package mcp is a registry of functions that agents call. Each has typed arguments
// and a typed result, and every call passes the same chain of checks, whatever
// protocol it came by. The package speaks neither HTTP nor a protocol: package
// server and package mcp/protocol do.
//
//	r, err := mcp.New(ctx, db, nil)
//	type order struct {
//		Number string `json:"number" doc:"The number on the receipt." maxLength:"20"`
//	}
//	type state struct {
//		Shipped bool `json:"shipped"`
//	}
//	err = mcp.Register(r, mcp.Function[order, state]{
//		Name: "order_state", Description: "Says whether an order has left.", Permission: "orders.read", ReadOnly: true,
//		Handler: func(ctx context.Context, c mcp.Call, in order) (state, error) {
//			return shop.State(ctx, c.Account, in.Number)
//		},
//	})
//	out := r.Execute(ctx, caller, mcp.Request{Function: "order_state", Arguments: []byte(`{"number":"A-7"}`)})
//
// # The chain
//
// The registry bounds the time of each call and recovers from panics. The caller
// needs [PermissionExecute] and the function's own permission. The call counts
// against the limit of its user and function and against that of its account; if
// one of them is reached, it counts against neither and is refused. Its arguments
// are validated, and every violation is named. Then the handler runs. The audit log
// has the outcome, also of refused calls, before the answer is sent.
//
// # Bounds
//
// Arguments have at most [MaxArguments] bytes and [MaxDepth] levels, a result at
// most [MaxResult] bytes, a batch at most [MaxBatch] calls. When a handler exceeds
// its deadline its caller gets an error; the handler may continue, but its result
// is discarded. At most [MaxStray] such handlers run at a time. Until one of them
// ends, further calls are refused as unavailable.
//
// # What the audit log holds
//
// The log has the names of all arguments and those values that help to find out
// what an agent did. It has no values of arguments marked private or of unknown
// arguments. It masks values whose names say that they are secrets. Of possible
// phone numbers it has the last four digits, of ids that contain a number, such as
// WhatsApp message ids, their end, and of long texts the beginning. [Account.Erase]
// erases calls that name a contact. A call that could not be logged keeps its
// outcome, since it has taken effect; the program's log has the error.
package mcp
