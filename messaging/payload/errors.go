package payload

// Invalid is a value that breaks a rule. The value itself is not repeated: it
// may be a secret.
type Invalid struct {
	Field   string // path in the request, "message.text"
	Message string
}

// Error names the field and the rule.
func (e *Invalid) Error() string { return "messaging: " + e.Field + ": " + e.Message }
