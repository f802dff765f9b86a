package payload

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider"
)

// Poll is a question with answers to tick, or a vote on one.
type Poll struct {
	Question  string   `json:"question"`
	Options   []string `json:"options" nullable:"false" minItems:"1"`
	Multiple  bool     `json:"multiple"`
	MessageID string   `json:"messageId,omitempty" doc:"Of a vote: id of the message with the poll."`
	Selected  []string `json:"selected,omitempty" nullable:"false" doc:"Of a vote: the options that are selected now."`
}

// Form is what a contact filled in.
type Form struct {
	Name string          `json:"name" example:"flow"`
	Data json.RawMessage `json:"data" doc:"The answers in the network's form, usually an object."`
}

// SentTemplate is the template of a message, as the send had it.
type SentTemplate struct {
	Name       string                    `json:"name" example:"order_ready"`
	Language   provider.TemplateLanguage `json:"language"`
	Components []json.RawMessage         `json:"components" nullable:"false" doc:"The parameters, in the network's form."`
}
