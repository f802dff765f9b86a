package provider

import "context"

// Namer is a Session that can ask what a contact is called, where messages
// come without names: [Capabilities.Names].
type Namer interface {
	// Name asks for the names of a contact, which may all be "". A
	// [*BadRecipient] or a [*Rejected] says that they are not to be had.
	Name(ctx context.Context, contact Address) (Contact, error)
}
