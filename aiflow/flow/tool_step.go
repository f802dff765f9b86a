package flow

// safe reports whether a tool says of itself that its call, which failed, may
// be made again.
func (e *Error) Safe() bool { return e.Detail["safe"] == true }
