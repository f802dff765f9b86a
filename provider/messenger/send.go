package messenger

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Recipient is the recipient of a message. One of the fields is set.
type Recipient struct {
	ID        string `json:"id,omitempty"`                          // page-scoped id
	UserRef   string `json:"user_ref,omitempty"`                    // of a plugin
	CommentID string `json:"comment_id,omitempty"`                  // a private reply, one within seven days
	PostID    string `json:"post_id,omitempty"`                     // the same
	Token     string `json:"notification_messages_token,omitempty"` // of a contact that allowed messages about a topic
}

// MessagingType is the purpose of a message.
type MessagingType string

// The types. Outside of the window, the network accepts only messages with a
// tag.
const (
	Response MessagingType = "RESPONSE" // an answer
	Update   MessagingType = "UPDATE"   // not an answer
	Tagged   MessagingType = "MESSAGE_TAG"
)

// Message is a request to send one message to one person.
//
// See https://developers.facebook.com/docs/messenger-platform/reference/send-api
type Message struct {
	To      Recipient
	Type    MessagingType // "": the network chooses
	Tag     string        // with [Tagged]
	ReplyTo string        // id of the message to quote, or ""
	Persona string        // id of the persona that sends it, or ""
	Body    Body
}

// Body is the content of a [Message]: a text or an attachment.
type Body struct {
	Text         string       `json:"text,omitempty"`
	Attachment   *Attachment  `json:"attachment,omitempty"`
	QuickReplies []QuickReply `json:"quick_replies,omitempty"`
	Metadata     string       `json:"metadata,omitempty"` // returned in the echo
}

// QuickReply is an answer shown as a button below the newest message.
type QuickReply struct {
	ContentType string `json:"content_type"` // "text", "user_phone_number", "user_email"
	Title       string `json:"title,omitempty"`
	Payload     string `json:"payload,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
}

// Sent is the answer to a [Message] that was accepted.
type Sent struct {
	MessageID    string
	RecipientID  string // page-scoped id, or ""
	AttachmentID string // of a file that can be sent again, or ""
}

// envelope is a [Message] in the network's format.
type envelope struct {
	Recipient Recipient     `json:"recipient"`
	Type      MessagingType `json:"messaging_type,omitempty"`
	Tag       string        `json:"tag,omitempty"`
	Message   *Body         `json:"message,omitempty"`
	ReplyTo   *quoted       `json:"reply_to,omitempty"`
	Persona   string        `json:"persona_id,omitempty"`
	Action    Action        `json:"sender_action,omitempty"`
}

type quoted struct {
	MessageID string `json:"mid"`
}

// Validate returns a [*provider.Invalid] for the first of Meta's limits that
// the message breaks.
func (m *Message) Validate() error {
	r := &graph.Rules{}
	r.Must(m.To != Recipient{}, "to", "must not be empty")
	r.Must((m.Tag != "") == (m.Type == Tagged), "tag", "goes with the type MESSAGE_TAG")
	if m.Tag != "" {
		r.Must(tags[m.Tag] > 0, "tag", "must be HUMAN_AGENT or CUSTOMER_FEEDBACK: there are no others any more")
	}
	m.Body.check(r)
	return r.Result()
}

// Send hands one message to the network. If the message breaks a limit, it
// returns a [*provider.Invalid].
func (c *Client) Send(ctx context.Context, m Message) (Sent, error) {
	if err := m.Validate(); err != nil {
		return Sent{}, err
	}
	e := &envelope{Recipient: m.To, Type: m.Type, Tag: m.Tag, Message: &m.Body, Persona: m.Persona}
	if m.ReplyTo != "" {
		e.ReplyTo = &quoted{m.ReplyTo}
	}
	var a answer
	if err := c.graph.Post(ctx, c.page+"/messages", e, &a); err != nil {
		graph.Trace(ctx, c.log, err)
		return Sent{}, graph.SendError(err)
	}
	if a.MessageID == "" {
		return Sent{}, &provider.Ambiguous{Err: errors.New("messenger: the answer to a send has no message id")}
	}
	return Sent{string(a.MessageID), string(a.RecipientID), string(a.AttachmentID)}, nil
}

// answer is the network's answer to a send or an upload.
type answer struct {
	RecipientID  graph.ID `json:"recipient_id"`
	MessageID    graph.ID `json:"message_id"`
	AttachmentID graph.ID `json:"attachment_id"`
}

// Action is something that the page shows without a message.
type Action string

// The actions.
const (
	MarkSeen  Action = "mark_seen"
	TypingOn  Action = "typing_on" // for 20 seconds, or until a message comes
	TypingOff Action = "typing_off"
)

// Act shows an action to a person, as a persona or "" for the page.
func (c *Client) Act(ctx context.Context, to Recipient, action Action, persona string) error {
	if err := c.graph.Post(ctx, c.page+"/messages", &envelope{Recipient: to, Action: action, Persona: persona}, nil); err != nil {
		return c.failed(ctx, "showing "+string(action), err)
	}
	return nil
}
