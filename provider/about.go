package provider

import "context"

// About is what the account knows of a message that something else is about:
// an answer, a reaction, the news that it was read.
type About struct {
	Mine bool   // the account wrote it
	From string // in a group, who did, as [Address.RemoteJID]; "": not known
	Text string // what it says, of a text or with a file
}

// AboutReader is a [Reader] whose network wants to be told who wrote what was
// read.
type AboutReader interface {
	MarkReadAbout(ctx context.Context, chat Address, messageID string, about About) error
}
