// Package graph has what references of Meta's Graph API share: a client, the
// handshake and the signature of callbacks, the meaning of error codes, and
// decoders for its loosely typed JSON. Packages cloud and messenger use it. It
// does not know message types and has no state. Package graphtest is a fake of
// the API for tests.
//
// A call, and what its failure means for a message:
//
//	c := graph.New(nil).As(accessToken)
//	err := c.Post(ctx, phoneNumberID+"/messages", body, &answer)
//	if err != nil {
//		return graph.SendError(err) // typed as package provider has it
//	}
package graph
