package cloud

import (
	"context"
	"errors"
	"net/http/httptrace"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

const product = "whatsapp"

// Message is a request to send one message to one contact or group.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
type Message struct {
	To           string // phone number with or without +; with Group, the group's id
	Recipient    string // business-scoped user id; To takes precedence
	Group        bool
	ReplyTo      string // id of the message to quote, or ""
	CallbackData string // at most 512 characters; returned in the statuses
	IdentityHash string // send only if the contact's identity has this hash; "": always
	Body         Body
}

// Body is the content of a [Message]: [Text], [Media], [Location], [Contacts],
// [Reaction], [Interactive] or [TemplateMessage].
type Body interface {
	check(r *graph.Rules)
	into(e *envelope)
}

// Sent is the answer to a [Message] that was accepted.
type Sent struct {
	MessageID string
	Status    string // of templates: accepted, held_for_quality_assessment, paused; or ""
	Input     string // the recipient as it was sent
	WaID      string // the contact's phone number in WhatsApp, which may differ from Input; or ""
	UserID    string // business-scoped user id, or ""
}

// envelope is a [Message] in the network's format.
type envelope struct {
	Product       string    `json:"messaging_product"`
	RecipientType string    `json:"recipient_type"`
	To            string    `json:"to,omitempty"`
	Recipient     string    `json:"recipient,omitempty"`
	IdentityHash  string    `json:"recipient_identity_key_hash,omitempty"`
	Context       *quoted   `json:"context,omitempty"`
	Type          string    `json:"type"`
	Text          *Text     `json:"text,omitempty"`
	Image         *Media    `json:"image,omitempty"`
	Video         *Media    `json:"video,omitempty"`
	Audio         *Media    `json:"audio,omitempty"`
	Document      *Media    `json:"document,omitempty"`
	Sticker       *Media    `json:"sticker,omitempty"`
	Location      *Location `json:"location,omitempty"`
	Contacts      []card    `json:"contacts,omitempty"`
	Reaction      *Reaction `json:"reaction,omitempty"`
	Interactive   any       `json:"interactive,omitempty"`
	Template      any       `json:"template,omitempty"`
	CallbackData  string    `json:"biz_opaque_callback_data,omitempty"`
	*Marketing
}

type quoted struct {
	MessageID string `json:"message_id"`
}

// Validate returns a [*provider.Invalid] for the first of Meta's limits that
// the message breaks.
func (m *Message) Validate() error {
	r := &graph.Rules{}
	switch {
	case m.To == "" && m.Recipient == "":
		r.Fail("to", "must not be empty")
	case m.Group:
		r.Needs("to", m.To)
	case m.To != "":
		r.Must(phone(strings.TrimPrefix(m.To, "+")), "to", "must be a phone number with its country code")
	default:
		r.Must(isScopedID(m.Recipient), "recipient", "must be a business-scoped user id")
	}
	r.MaxLength("id", m.CallbackData, maxCallback)
	r.Must(m.Body != nil, "message", "must not be empty")
	if m.Body != nil {
		m.Body.check(r)
	}
	return r.Result()
}

func (m *Message) envelope() *envelope {
	e := &envelope{
		Product: product, RecipientType: "individual", To: m.To,
		IdentityHash: m.IdentityHash, CallbackData: m.CallbackData,
	}
	if m.Group {
		e.RecipientType = "group"
	}
	if m.To == "" {
		e.Recipient = m.Recipient
	}
	if m.ReplyTo != "" {
		e.Context = &quoted{m.ReplyTo}
	}
	m.Body.into(e)
	return e
}

// Send hands one message to the network. If the number's or the contact's rate
// is used up, it waits for a short time, or returns a [*provider.RateLimited]
// without sending. If the message breaks a limit, it returns a
// [*provider.Invalid].
func (c *Client) Send(ctx context.Context, m Message) (Sent, error) {
	if err := m.Validate(); err != nil {
		return Sent{}, err
	}
	return c.send(ctx, "messages", m, m.envelope())
}

// Marketing are options of the Marketing Messages API for a template. Empty
// fields mean the account's settings.
type Marketing struct {
	ProductPolicy   string `json:"product_policy,omitempty"` // CLOUD_API_FALLBACK or STRICT
	ActivitySharing *bool  `json:"message_activity_sharing,omitempty"`
}

// SendMarketing is [Client.Send] through the Marketing Messages API, which
// accepts only marketing templates and may deliver more of them.
//
// See https://developers.facebook.com/docs/whatsapp/marketing-messages-lite-api
func (c *Client) SendMarketing(ctx context.Context, m Message, how Marketing) (Sent, error) {
	if err := m.Validate(); err != nil {
		return Sent{}, err
	}
	e := m.envelope()
	if e.Template == nil {
		return Sent{}, &provider.Invalid{Field: "message.type", Message: "must be template"}
	}
	e.Marketing = &how
	return c.send(ctx, "marketing_messages", m, e)
}

func (c *Client) send(ctx context.Context, edge string, m Message, e *envelope) (Sent, error) {
	if err := c.limiter.contact(ctx, c.phone, first(m.To, m.Recipient)); err != nil {
		return Sent{}, err
	}
	return c.post(ctx, edge, e)
}

// post hands over a message in the number's turn, after the contact's turn.
func (c *Client) post(ctx context.Context, edge string, e *envelope) (Sent, error) {
	contact := first(e.To, e.Recipient)
	turn, err := c.limiter.turn(ctx, c.phone, contact)
	if err != nil {
		return Sent{}, err
	}
	defer c.limiter.arrived(turn, c.phone, contact)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { c.limiter.written(turn) },
	})
	var a answer
	if err := c.graph.Post(ctx, c.phone+"/"+edge, e, &a); err != nil {
		graph.Trace(ctx, c.log, err)
		return Sent{}, graph.SendError(err)
	}
	sent := a.sent()
	if sent.MessageID == "" {
		return Sent{}, &provider.Ambiguous{Err: errors.New("cloud: the answer to a send has no message id")}
	}
	return sent, nil
}

// answer is the network's answer to a send.
type answer struct {
	Contacts []struct {
		Input  graph.ID `json:"input"`
		WaID   graph.ID `json:"wa_id"`
		UserID graph.ID `json:"user_id"`
	} `json:"contacts"`
	Messages []struct {
		ID     graph.ID `json:"id"`
		Status string   `json:"message_status"`
	} `json:"messages"`
}

func (a *answer) sent() Sent {
	var s Sent
	if len(a.Messages) > 0 {
		s.MessageID, s.Status = string(a.Messages[0].ID), a.Messages[0].Status
	}
	if len(a.Contacts) > 0 {
		c := a.Contacts[0]
		s.Input, s.WaID, s.UserID = string(c.Input), string(c.WaID), string(c.UserID)
	}
	return s
}
