// Package mcp is a registry of functions that agents call: each with typed
// arguments and a typed result, behind one chain of checks that every caller
// passes, by whichever protocol it came. It speaks neither HTTP nor a
// protocol: package server and package mcp/protocol put those before it.
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
// A call is recovered from, bounded in time, and allowed by
// [PermissionExecute] and the function's own permission. It takes one from the
// limit of its user and function and one from that of its account, or neither
// and is refused. Its arguments are checked, and every violation is named.
// Then the handler runs, and what became of the call is in the audit log
// before the answer leaves, refused calls too.
//
// # Bounds
//
// Arguments have at most [MaxArguments] bytes and [MaxDepth] levels, a result
// has at most [MaxResult] bytes, a batch [MaxBatch] calls. A handler that goes
// on after its deadline is left behind: its caller is answered, and what it
// does is its own affair. Of those at most [MaxStray] run at a time; until one
// ends, further calls are refused as unavailable.
//
// # What the audit log holds
//
// The names of all arguments, but only such values as are of use to those who
// looks for what an agent did: neither those of arguments that are marked
// private, nor of unknown ones. Of secrets, which are known by their names,
// nothing is left; of what may be a phone number the last four digits, and of
// ids that hold one, as WhatsApp's of messages do, their end; of long texts
// their beginning. [Account.Erase] erases what names a contact. A call that could not be
// written down keeps its outcome, because what was done is done; the program's
// log has it as an error.
package mcp
