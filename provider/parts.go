package provider

// Splitter is a Provider whose network needs several messages for some
// contents, such as a file with a text.
type Splitter interface {
	// Split returns the messages that c is sent as, in order. One of them has
	// the type of c. Each may be sent if c may.
	Split(c Content) []Content
}
