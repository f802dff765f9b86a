package provider

// Poll is a question with answers to select.
type Poll struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Multiple bool     `json:"multiple,omitempty"` // more than one may be selected
}

// Vote is the choice of a person in a [Poll]. It replaces the person's earlier
// votes in the poll. A vote without options withdraws them.
type Vote struct {
	MessageID string   `json:"messageId"` // of the message with the poll
	Options   []string `json:"options"`   // as the poll names them
	// Hashes are the SHA-256 of the names of the options, of a network that
	// does not report the names. Options is then nil.
	Hashes [][]byte `json:"-"`
}

// Edit replaces the text of a message of the account.
type Edit struct {
	MessageID string `json:"messageId"`
	Text      string `json:"text"`
}

// The names of the content types.
func (Poll) Type() string { return "poll" }
func (Vote) Type() string { return "vote" }
func (Edit) Type() string { return "edit" }
