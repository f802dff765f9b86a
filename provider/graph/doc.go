// Package graph holds what references of Meta's Graph API share: a client, the
// handshake and the signature of callbacks, the meaning of error codes, and
// the loose scalars of its JSON. Packages cloud and messenger are built on it.
// It knows no message type and keeps no state; package graphtest is a fake of
// the API to test against.
//
// A call, and what its failure means for a message:
//
//	c := graph.New(nil).As(accessToken)
//	err := c.Post(ctx, phoneNumberID+"/messages", body, &answer)
//	if err != nil {
//		return graph.SendError(err) // typed as package provider has it
//	}
package graph
