package cloud

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// sendable are the content types that a reference can send.
var sendable = []string{
	"text", "image", "video", "audio", "document", "sticker", "template",
	"buttons", "list", "location", "contacts", "reaction", "interactive",
}

var _ provider.Validator = (*Provider)(nil)

// Validate checks a message against Meta's limits.
func (*Provider) Validate(c provider.Content) error {
	_, err := compose(c)
	return err
}

// address sets the recipient.
func (m *Message) address(to provider.Address) error {
	switch {
	case to.Group:
		m.To, m.Group = strings.TrimSuffix(to.ChatID, groupSuffix), true
	case to.Phone != "":
		m.To = to.Phone
	case to.UserID != "":
		m.Recipient = to.UserID
	default:
		return &provider.BadRecipient{Message: "the contact has neither a phone number nor a business-scoped user id"}
	}
	return nil
}

// pending is the placeholder of the id of a file that is uploaded later.
const pending = "pending"

// compose returns the body of a [Message] for content, which keeps all limits.
// An error names the field as the content does.
func compose(content provider.Content) (Body, error) {
	body, names, err := bodyOf(content)
	if err != nil {
		return nil, err
	}
	r := &graph.Rules{}
	if file, is := content.(provider.Media); is {
		checkFile(r, file)
	}
	body.check(r)
	return body, graph.Renamed(r.Result(), names...)
}

// bodyOf returns the body for content, and the names of its fields in the
// content where they differ.
func bodyOf(content provider.Content) (body Body, names []string, err error) {
	switch c := content.(type) {
	case provider.Text:
		return Text{Text: c.Text, PreviewURL: c.PreviewURL}, []string{"message.text.body", "message.text"}, nil
	case provider.Media:
		if _, known := mediaLimits[c.Kind]; !known {
			break
		}
		at := "message." + c.Type()
		return mediaOf(c), []string{at + ".link", "message.url", at, "message"}, nil
	case provider.Template:
		return rawTemplate{c.Template}, nil, nil
	case provider.Buttons:
		return buttonsOf(c), []string{atInteractive + ".action.buttons", "message.buttons", ".reply.", ".", atInteractive + ".body.text", "message.text"}, nil
	case provider.List:
		return listOf(c), []string{atInteractive + ".action", "message", atInteractive + ".body.text", "message.text"}, nil
	case provider.Location:
		return Location{c.Latitude, c.Longitude, c.Name, c.Address}, []string{"message.location", "message"}, nil
	case provider.Contacts:
		return Contacts(c.Contacts), []string{".formatted_name", ".formattedName"}, nil
	case provider.Reaction:
		return Reaction{c.MessageID, c.Emoji}, []string{"message.reaction.message_id", "message.messageId"}, nil
	case provider.Interactive:
		return rawInteractive(c.Interactive), nil, nil
	case nil:
		return nil, nil, missing("a message without content")
	}
	return nil, nil, missing("content of type %q", content.Type())
}

// mediaOf returns a file with the id [pending] if it has to be uploaded.
func mediaOf(c provider.Media) Media {
	m := Media{Kind: c.Kind, ID: c.ID, Caption: c.Caption, Voice: c.Voice}
	if c.Kind == provider.Document {
		m.Filename = c.FileName
	}
	switch {
	case c.ID != "":
	case c.Open != nil || c.StoredID != "":
		m.ID = pending
	default:
		m.Link = c.URL
	}
	return m
}

// checkFile checks a file against the limits of its kind.
func checkFile(r *graph.Rules, c provider.Media) {
	if c.MIME != "" {
		checkType(r, c.Kind, c.MIME)
	}
	r.Size(c.Kind, c.Size, mediaLimits[c.Kind])
}

func buttonsOf(c provider.Buttons) Interactive {
	buttons := make(Buttons, len(c.Buttons))
	for i, b := range c.Buttons {
		buttons[i] = Reply{b.ID, b.Title}
	}
	return Interactive{Body: c.Text, Action: buttons}
}

func listOf(c provider.List) Interactive {
	list := List{Button: c.Button, Sections: make([]Section, len(c.Sections))}
	for i, s := range c.Sections {
		list.Sections[i].Title = s.Title
		for _, row := range s.Rows {
			list.Sections[i].Rows = append(list.Sections[i].Rows, Row(row))
		}
	}
	return Interactive{Body: c.Text, Action: list}
}

// rawInteractive is an [Interactive] that is sent unchanged. The network checks
// actions that this version does not support.
type rawInteractive json.RawMessage

func (i rawInteractive) check(r *graph.Rules) {
	var in struct {
		Type   string          `json:"type"`
		Header *Header         `json:"header"`
		Body   textPart        `json:"body"`
		Footer textPart        `json:"footer"`
		Action json.RawMessage `json:"action"`
	}
	if err := json.Unmarshal(i, &in); err != nil {
		r.Fail(atInteractive, "must be an object as the network takes it")
		return
	}
	r.Needs(atInteractive+".type", in.Type)
	typed := Interactive{Header: in.Header, Body: in.Body.Text, Footer: in.Footer.Text, Action: foreign(in.Type)}
	var err error
	switch in.Type {
	case Buttons{}.kind():
		typed.Action, err = readButtons(in.Action)
	case List{}.kind():
		var list List
		err = json.Unmarshal(in.Action, &list)
		typed.Action = list
	}
	if err != nil {
		r.Fail(atInteractive+".action", "must be an object as the network takes it")
		return
	}
	typed.check(r)
}

func (i rawInteractive) into(e *envelope) { e.Type, e.Interactive = "interactive", json.RawMessage(i) }

func readButtons(action json.RawMessage) (Buttons, error) {
	var in struct {
		Buttons []struct {
			Reply Reply `json:"reply"`
		} `json:"buttons"`
	}
	err := json.Unmarshal(action, &in)
	buttons := make(Buttons, len(in.Buttons))
	for i, b := range in.Buttons {
		buttons[i] = b.Reply
	}
	return buttons, err
}

// foreign is an [Action] of which only the type is checked.
type foreign string

func (f foreign) kind() string             { return string(f) }
func (foreign) wire() any                  { return nil }
func (foreign) check(*graph.Rules, string) {}

func missing(format string, args ...any) error {
	return &provider.Unsupported{What: fmt.Sprintf(format, args...)}
}
