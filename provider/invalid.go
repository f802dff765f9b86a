package provider

// Invalid says that a field of a message breaks a rule of the network. It is
// returned before anything is sent.
type Invalid struct {
	Field   string // path in a send, such as "message.buttons[0].title"
	Message string // what is wrong, to be read after the field: "must have at most 20 characters"
}

func (e *Invalid) Error() string { return "provider: " + e.Field + " " + e.Message }

// Validator is a Provider that knows the limits of its network, so that a
// message that the network would refuse is refused before it is stored.
type Validator interface {
	// Validate returns an [*Invalid] if c breaks a limit, an [*Unsupported] if
	// this kind of reference does not support it, and nil if it may be sent. It
	// does no I/O.
	Validate(c Content) error
}
