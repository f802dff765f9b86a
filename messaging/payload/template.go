package payload

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// Template is a message template of a reference, as its network last described it.
type Template struct {
	ID             string               `json:"id" doc:"The network's id of the template."`
	Reference      provider.ReferenceID `json:"reference"`
	Name           string               `json:"name"`
	Category       string               `json:"category" doc:"MARKETING, UTILITY or AUTHENTICATION." example:"UTILITY"`
	Language       string               `json:"language" example:"en_US"`
	Components     []json.RawMessage    `json:"components" nullable:"false" doc:"The components, in the network's form."`
	Status         string               `json:"status" enum:"PENDING,APPROVED,REJECTED,DISABLED"`
	ProviderStatus string               `json:"providerStatus" doc:"The network's name of the status." example:"PAUSED"`
	Reason         *string              `json:"reason" doc:"The network's reason for the status."`
	Quality        *string              `json:"quality" doc:"GREEN, YELLOW, RED or UNKNOWN." example:"GREEN"`
	UpdatedAt      UnixTime             `json:"updatedAt"`
}

// TemplatePreview is what a contact would see of a template.
type TemplatePreview struct {
	Text    string           `json:"text"`
	Header  string           `json:"header,omitempty" doc:"Text of the header; for a file, its address or else its kind."`
	Footer  string           `json:"footer,omitempty"`
	Buttons []TemplateButton `json:"buttons,omitempty" nullable:"false"`
}

// TemplateButton is a button under a template.
type TemplateButton struct {
	Type string `json:"type" example:"URL"`
	Text string `json:"text"`
	URL  string `json:"url,omitempty" doc:"Address that the button opens."`
}

// Plain is what a record says of a template that was sent.
func (p TemplatePreview) Plain() string {
	lines := slices.DeleteFunc([]string{p.Header, p.Text, p.Footer}, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n")
}
