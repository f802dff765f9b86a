package provider

import "context"

// About describes the message that another action refers to: a reply, a
// reaction or a read receipt.
type About struct {
	Mine bool   // the account sent it
	From string // in a group, the sender as [Address.RemoteJID]; "": not known
	Text string // the text or caption of the message
}

// AboutReader is a [Reader] whose network needs to know who sent the message
// that was read.
type AboutReader interface {
	MarkReadAbout(ctx context.Context, chat Address, messageID string, about About) error
}
