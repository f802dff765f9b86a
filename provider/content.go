package provider

import "encoding/json"

// Content is the body of a message. The JSON of each type is what a user
// writes as `message` in a send, beside its `type`. Files are a [Media], cards
// of people [Contacts].
type Content interface {
	Type() string
}

// Text is plain text.
type Text struct {
	Text       string `json:"text"`
	PreviewURL bool   `json:"previewUrl,omitempty"`
	// Mentions are chat ids of participants of the group whom the text names;
	// networks without mentions send the text alone.
	Mentions []string `json:"mentions,omitempty"`
}

// Template is an approved message template with its parameters.
type Template struct {
	Template TemplateCall `json:"template"`
}

// TemplateCall names a template and fills it.
type TemplateCall struct {
	Name       string            `json:"name"`
	Language   TemplateLanguage  `json:"language"`
	Components []json.RawMessage `json:"components,omitempty"` // as the network takes them
}

// TemplateLanguage is the language of a template. The only policy is
// "deterministic": exactly this language. It is also what no policy means.
type TemplateLanguage struct {
	Code   string `json:"code"`
	Policy string `json:"policy,omitempty"`
}

// Buttons asks a question with up to three answers to press.
type Buttons struct {
	Text    string   `json:"text"`
	Buttons []Choice `json:"buttons"`
}

// Choice is one button or row.
type Choice struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"` // rows only
}

// List asks a question with answers in a menu.
type List struct {
	Text     string    `json:"text"`
	Button   string    `json:"button"`
	Sections []Section `json:"sections"`
}

// Section is a titled part of a [List].
type Section struct {
	Title string   `json:"title,omitempty"`
	Rows  []Choice `json:"rows"`
}

// Location is a point on the map.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
	URL       string  `json:"-"` // of the place, when received
}

// Reaction puts an emoji on a message; an empty one takes it away.
type Reaction struct {
	MessageID string `json:"messageId"`
	Emoji     string `json:"emoji"`
}

// Revoke deletes a message for everybody.
type Revoke struct {
	MessageID string `json:"messageId"`
}

// The names of the content types; a [Media] has that of its kind.
func (Text) Type() string     { return "text" }
func (Template) Type() string { return "template" }
func (Buttons) Type() string  { return "buttons" }
func (List) Type() string     { return "list" }
func (Location) Type() string { return "location" }
func (Reaction) Type() string { return "reaction" }
func (Revoke) Type() string   { return "revoke" }
