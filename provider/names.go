package provider

import "context"

// Namer is a Session that can ask for the names of contacts, for networks whose
// messages do not contain them: [Capabilities.Names].
type Namer interface {
	// Name returns the names of a contact, which may all be "". A
	// [*BadRecipient] or a [*Rejected] says that they are not available.
	Name(ctx context.Context, contact Address) (Contact, error)
}
