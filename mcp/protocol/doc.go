// Package protocol serves the functions of a [mcp.Registry] over the Model
// Context Protocol, as the official SDK speaks it: Streamable HTTP without
// sessions, from revision 2025-03-26 to the newest.
//
//	h, err := protocol.New(registry, &protocol.Options{
//		BaseURL:      "https://chat.example.com",
//		Authenticate: func(ctx context.Context, token string) (mcp.Caller, error) { … },
//		Resources:    []protocol.Resource{{Template: "orders://{number}", Name: "order", Function: "order_state"}},
//	})
//	http.Handle(protocol.Path, h)
//	http.Handle(protocol.MetadataPath, h.Metadata())
//
// A function is a tool, with the schemas of its arguments and its result. The
// registry checks every call. This package authenticates the caller, and shows a
// caller only the functions that the caller may use.
//
// # Failures
//
// A call that fails has a result that the model can read and react to: isError is
// set, the text describes the error, and the structured content is {"error":
// {"code", "message", "details"}}, which the published schema of the result allows.
// Only what a model cannot correct is an error of the protocol: an unknown tool or
// method, or a message that cannot be parsed.
//
// # What a client must know
//
//   - Accept must name application/json and text/event-stream, as the
//     protocol demands.
//   - The token is that of the REST API, in the Authorization header. Cookies
//     are ignored, and pages of other origins refused.
//   - A body has at most 1 MiB and holds one message.
//   - When a client goes away the call is cancelled on revision 2026-07-28.
//     Older ones have no such meaning: the call ends with its deadline.
//   - Integers above 2^53 are exact in the text of a result; clients that read
//     the structured content into floating point lose digits there.
package protocol
