package provider

// Invalid says that a member of a message breaks a rule of the network. It is
// found before anything is sent.
type Invalid struct {
	Field   string // path in a send: "message.buttons[0].title"
	Message string // what is wrong, to be read after the field: "must have at most 20 characters"
}

func (e *Invalid) Error() string { return "provider: " + e.Field + " " + e.Message }

// Validator is a Provider that knows the limits of its network, so that a
// message it would refuse is refused before it is stored.
type Validator interface {
	// Validate returns an [*Invalid] for what breaks a limit, an
	// [*Unsupported] for what this kind of reference lacks, and nil for what may be
	// sent. It does no I/O.
	Validate(c Content) error
}
