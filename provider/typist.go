package provider

import "context"

// Typist is a Session that can show the contact that the account is typing,
// until a message is sent or for a short time.
type Typist interface {
	// Typing takes the id of the contact's latest message: some networks also
	// mark it as read.
	Typing(ctx context.Context, chat Address, latestID string) error
}
