package graphtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// sent is the body of the messages endpoint. Other members are refused.
type sent struct {
	Product       string           `json:"messaging_product"`
	RecipientType string           `json:"recipient_type"`
	To            string           `json:"to"`
	Recipient     string           `json:"recipient"`
	Type          string           `json:"type"`
	Text          *sentText        `json:"text"`
	Template      *sentTemplate    `json:"template"`
	Image         *sentFile        `json:"image"`
	Video         *sentFile        `json:"video"`
	Audio         *sentFile        `json:"audio"`
	Document      *sentFile        `json:"document"`
	Sticker       *sentFile        `json:"sticker"`
	Location      *sentLocation    `json:"location"`
	Contacts      json.RawMessage  `json:"contacts"`
	Reaction      *sentReaction    `json:"reaction"`
	Interactive   *sentInteractive `json:"interactive"`
	IdentityHash  string           `json:"recipient_identity_key_hash"`
	Context       *struct {
		MessageID string `json:"message_id"`
	} `json:"context"`
	CallbackData string `json:"biz_opaque_callback_data"`

	Policy  string `json:"product_policy"` // of marketing messages, as the next
	Sharing *bool  `json:"message_activity_sharing"`

	Status    string `json:"status"` // marks the message as read, with MessageID
	MessageID string `json:"message_id"`
	Typing    *struct {
		Type string `json:"type"`
	} `json:"typing_indicator"`
}

type sentText struct {
	Body       *string `json:"body"`
	PreviewURL bool    `json:"preview_url"`
}

type sentTemplate struct {
	Name     string `json:"name"`
	Language struct {
		Code   string `json:"code"`
		Policy string `json:"policy"`
	} `json:"language"`
	Components []json.RawMessage `json:"components"`
}

// group is the recipient_type of messages to groups.
const group = "group"

var (
	dialled  = regexp.MustCompile(`^\+?[0-9]{4,15}$`)
	scopedID = regexp.MustCompile(`^[A-Z]{2}(\.ENT)?\.[A-Za-z0-9]{1,128}$`)
)

// messageEndpoint handles the sends of a number.
type messageEndpoint struct{ fake *Server }

func (e *messageEndpoint) answer(l Number, edge string, body []byte) *reply {
	var in sent
	if err := strict(body, &in); err != nil {
		return detailed(100, "(#100) Invalid parameter", err.Error())
	}
	if in.Product != "whatsapp" {
		return refuse(100, "(#100) The parameter messaging_product is required.")
	}
	if in.Status != "" {
		return e.markRead(&in)
	}
	if edge == "marketing_messages" && in.Type != "template" {
		return refuse(131055, "(#131055) Method not allowed")
	}
	if refused := in.check(); refused != nil {
		return refused
	}
	if refused := e.content(l, &in); refused != nil {
		return refused
	}
	to := strings.TrimPrefix(defaulted(in.To, in.Recipient), "+")
	if refused := e.permits(l, &in, to); refused != nil {
		return refused
	}
	return e.take(l, &in, to, body)
}

// check checks the form of a message.
func (in *sent) check() *reply {
	switch {
	case in.RecipientType != "" && in.RecipientType != "individual" && in.RecipientType != group:
		return wrong("Param recipient_type must be one of {INDIVIDUAL, GROUP}")
	case in.To == "" && in.Recipient == "":
		return refuse(100, "(#100) The parameter to is required.")
	case in.RecipientType == group && (in.To == "" || dialled.MatchString(in.To)):
		return wrong("Param to is no group id")
	case in.RecipientType != group && in.To != "" && !dialled.MatchString(in.To):
		return wrong("Param to is no phone number")
	case in.To == "" && !scopedID.MatchString(in.Recipient):
		return wrong("Param recipient is no business-scoped user id")
	case in.Context != nil && in.Context.MessageID == "":
		return missing("context.message_id")
	case utf8.RuneCountInString(in.CallbackData) > 512:
		return wrong("Param biz_opaque_callback_data must be at most 512 characters long")
	case in.MessageID != "" || in.Typing != nil:
		return detailed(100, "(#100) Invalid parameter", "message_id and typing_indicator go with a status")
	}
	return nil
}

// permits reports whether the number may send the message to this contact now.
func (e *messageEndpoint) permits(l Number, in *sent, to string) *reply {
	if in.Type == "template" {
		name := in.Template.Name + "/" + in.Template.Language.Code
		if l.Templates != nil && !slices.Contains(l.Templates, name) {
			return detailed(132001, "(#132001) Template name does not exist in the translation", "template name ("+in.Template.Name+") does not exist in "+in.Template.Language.Code)
		}
		return nil
	}
	if !e.fake.opts.Window {
		return nil
	}
	e.fake.mu.Lock()
	defer e.fake.mu.Unlock()
	if e.fake.opts.Now().Sub(e.fake.wrote[l.PhoneNumberID+"/"+to]) < 24*time.Hour {
		return nil
	}
	return detailed(131047, "(#131047) Re-engagement message", "The contact has not written within the last 24 hours.")
}

// take accepts a message and posts its statuses.
func (e *messageEndpoint) take(l Number, in *sent, to string, body []byte) *reply {
	m := Message{
		ID: newID(), Owner: l.PhoneNumberID, To: to, Type: defaulted(in.Type, "text"),
		CallbackData: in.CallbackData, Body: body, At: e.fake.opts.Now(), Group: in.RecipientType == group,
	}
	m.Text = in.words()
	if f := in.file(); f != nil {
		m.FileID, m.FileLink = f.ID, f.Link
	}
	if in.Template != nil {
		m.Template = in.Template.Name
	}
	if in.Context != nil {
		m.ReplyTo = in.Context.MessageID
	}
	e.fake.record(func() {
		e.fake.shown = append(e.fake.shown, m)
		e.fake.taken[m.ID] = m
	})
	e.fake.follow(l, m)
	contact := map[string]string{"input": defaulted(in.To, in.Recipient)}
	switch {
	case in.RecipientType == group: // only what was given
	case in.To != "":
		contact["wa_id"] = to
	default:
		contact["user_id"] = to
	}
	return ok(map[string]any{
		"messaging_product": "whatsapp",
		"contacts":          []any{contact},
		"messages":          []any{map[string]string{"id": m.ID}},
	})
}

func (e *messageEndpoint) markRead(in *sent) *reply {
	if in.Status != "read" || in.MessageID == "" {
		return detailed(131009, "(#131009) Parameter value is not valid", "status must be read, with a message_id")
	}
	e.fake.mu.Lock()
	m, known := e.fake.taken[in.MessageID]
	e.fake.mu.Unlock()
	if !known || m.To != "" {
		return detailed(131009, "(#131009) Parameter value is not valid", "Message ID is invalid.")
	}
	e.fake.record(func() { e.fake.read[in.MessageID] = true })
	return success
}
