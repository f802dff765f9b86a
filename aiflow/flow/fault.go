package flow

// Error is what went wrong in a run: what error outputs carry, and what
// expressions see as error.
type Error struct {
	Code    string         `json:"code"` // such as http.timeout
	Message string         `json:"message"`
	Node    string         `json:"node,omitempty"`
	Attempt int            `json:"attempt,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
