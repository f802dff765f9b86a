package payload

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider"
)

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
