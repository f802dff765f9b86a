package provider

// Splitter is a Provider whose network has no single message for some
// contents: a file with words beside it, a question above its cards.
type Splitter interface {
	// Split returns the messages that c is sent as, one after the other: one
	// that [Content.Type] calls as c, and maybe others before or behind it.
	// Each may be sent if c may.
	Split(c Content) []Content
}
