package cloud

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	maxText     = 4096 // characters of a text
	maxCallback = 512  // characters of biz_opaque_callback_data
	maxTemplate = 512  // characters of a template's name
)

const product = "whatsapp"

// outgoing is the body of a send.
type outgoing struct {
	Product       string        `json:"messaging_product"`
	RecipientType string        `json:"recipient_type"`
	To            string        `json:"to,omitempty"`        // a phone number; wins over Recipient
	Recipient     string        `json:"recipient,omitempty"` // a business-scoped user id
	Context       *quoted       `json:"context,omitempty"`
	Type          string        `json:"type"`
	Text          *textBody     `json:"text,omitempty"`
	Template      *templateBody `json:"template,omitempty"`
	CallbackData  string        `json:"biz_opaque_callback_data,omitempty"` // comes back in statuses
}

type quoted struct {
	MessageID string `json:"message_id"`
}

type textBody struct {
	Body       string `json:"body"`
	PreviewURL bool   `json:"preview_url"`
}

type templateBody struct {
	Name       string            `json:"name"`
	Language   templateLanguage  `json:"language"`
	Components []json.RawMessage `json:"components,omitempty"`
}

type templateLanguage struct {
	Code string `json:"code"`
}

// compose turns a message into the body that the network takes.
func compose(out provider.Outbound) (*outgoing, error) {
	body := &outgoing{Product: product, RecipientType: "individual", CallbackData: out.ID}
	if utf8.RuneCountInString(out.ID) > maxCallback {
		return nil, lacks("an id of more than %d characters", maxCallback)
	}
	if err := body.address(out.To); err != nil {
		return nil, err
	}
	if out.ReplyTo != "" {
		body.Context = &quoted{out.ReplyTo}
	}
	switch content := out.Content.(type) {
	case provider.Text:
		return body, body.text(content)
	case provider.Template:
		return body, body.template(content.Template)
	case nil:
		return nil, lacks("a message without content")
	default:
		return nil, lacks("content of type %q", content.Type())
	}
}

func (b *outgoing) address(to provider.Address) error {
	switch {
	case to.Group:
		return lacks("sending to a group")
	case to.Phone != "":
		b.To = to.Phone
	case to.UserID != "":
		b.Recipient = to.UserID
	default:
		return &provider.BadRecipient{Message: "the contact has neither a phone number nor a business-scoped user id"}
	}
	return nil
}

func (b *outgoing) text(t provider.Text) error {
	b.Type = t.Type()
	b.Text = &textBody{Body: t.Text, PreviewURL: t.PreviewURL}
	switch n := utf8.RuneCountInString(t.Text); {
	case n == 0:
		return lacks("an empty text (message.text)")
	case n > maxText:
		return lacks("a text of %d characters, more than %d (message.text)", n, maxText)
	}
	return nil
}

func (b *outgoing) template(t provider.TemplateCall) error {
	b.Type = provider.Template{}.Type()
	b.Template = &templateBody{Name: t.Name, Language: templateLanguage{t.Language.Code}, Components: t.Components}
	switch {
	case t.Name == "" || utf8.RuneCountInString(t.Name) > maxTemplate:
		return lacks("a template's name of none or more than %d characters (message.template.name)", maxTemplate)
	case t.Language.Code == "":
		return lacks("a template without language (message.template.language.code)")
	}
	for i, c := range t.Components {
		if !json.Valid(c) {
			return lacks("a component that is no JSON (message.template.components[%d])", i)
		}
	}
	return nil
}

func lacks(format string, args ...any) error {
	return &provider.Unsupported{What: fmt.Sprintf(format, args...)}
}
