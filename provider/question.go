package provider

// Poll is a question with answers to select.
type Poll struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Multiple bool     `json:"multiple,omitempty"` // more than one may be selected
}

// Edit replaces the text of a message of the account.
type Edit struct {
	MessageID string `json:"messageId"`
	Text      string `json:"text"`
}

// The names of the content types.
func (Poll) Type() string { return "poll" }
func (Edit) Type() string { return "edit" }
