package provider

import "context"

// Typist is a Session that can show the contact that an answer is being
// written, for a while or until it is sent.
type Typist interface {
	// Typing names the contact's latest message: some networks show it only
	// together with marking that as read.
	Typing(ctx context.Context, chat Address, latestID string) error
}
