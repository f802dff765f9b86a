package provider

import "encoding/json"

// Content is the body of a message. Its JSON is the `message` of a send, next
// to the `type`. Files are a [Media], contact cards are [Contacts].
type Content interface {
	Type() string
}

// Text is plain text.
type Text struct {
	Text       string `json:"text"`
	PreviewURL bool   `json:"previewUrl,omitempty"`
	// Mentions are the chat ids of participants of the group whom the text
	// mentions. Networks without mentions send only the text.
	Mentions []string `json:"mentions,omitempty"`
}

// Template is an approved message template with its parameters.
type Template struct {
	Template TemplateCall `json:"template"`
}

// TemplateCall names a template and its parameters.
type TemplateCall struct {
	Name       string            `json:"name"`
	Language   TemplateLanguage  `json:"language"`
	Components []json.RawMessage `json:"components,omitempty"` // as the network defines them
}

// TemplateLanguage is the language of a template. The only policy is
// "deterministic", which means exactly this language. It is the default.
type TemplateLanguage struct {
	Code   string `json:"code"`
	Policy string `json:"policy,omitempty"`
}

// Buttons is a question with up to three buttons as answers.
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

// List is a question with the answers in a menu.
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

// Reaction adds an emoji to a message. An empty emoji removes it.
type Reaction struct {
	MessageID string `json:"messageId"`
	Emoji     string `json:"emoji"`
}

// Revoke deletes a message for all participants.
type Revoke struct {
	MessageID string `json:"messageId"`
}

// The names of the content types. The type of a [Media] is the name of its
// kind.
func (Text) Type() string     { return "text" }
func (Template) Type() string { return "template" }
func (Buttons) Type() string  { return "buttons" }
func (List) Type() string     { return "list" }
func (Location) Type() string { return "location" }
func (Reaction) Type() string { return "reaction" }
func (Revoke) Type() string   { return "revoke" }
