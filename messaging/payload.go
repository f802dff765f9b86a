package messaging

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider"
)

// MessagePayload is what integrators receive for a message. Members that the
// type has are always present; those with omitempty only when they apply.
type MessagePayload struct {
	Head
	Body
}

// Head holds the members that every message has.
type Head struct {
	Reference        provider.ReferenceID `json:"reference"`
	Ref              provider.ReferenceID `json:"ref"`
	RemoteJID        string               `json:"remoteJid" example:"16505551234::single"`
	Mine             bool                 `json:"mine"`
	ID               string               `json:"id"`
	PushName         string               `json:"pushName"`
	VerifiedBizName  string               `json:"verifiedBizName"`
	MessageTimestamp UnixTime             `json:"messageTimestamp"`
	Type             string               `json:"type" enum:"text,image,video,document,audio"`
	Status           string               `json:"status" enum:"FAIL,PENDING,SENDING,DELIVERED,READ,PLAYED"`
}

// Body holds the members that depend on what a message is.
type Body struct {
	Text        string             `json:"text"`
	Location    *provider.Location `json:"location,omitempty"`
	Reply       *provider.Reply    `json:"reply,omitempty"`
	Reaction    *provider.Reaction `json:"reaction,omitempty"`
	Unsupported *provider.Unknown  `json:"unsupported,omitempty"`
	Participant *Participant       `json:"participant,omitempty"`
	Context     *Quote             `json:"context,omitempty"`
	Referral    json.RawMessage    `json:"referral,omitempty"`
}

// Participant is who wrote in a group.
type Participant struct {
	RemoteJID string `json:"remoteJid"`
	PushName  string `json:"pushName"`
}

// Quote is what a message answers or was forwarded from.
type Quote struct {
	MessageID string `json:"messageId"`
	Forwarded bool   `json:"forwarded,omitempty"`
}

// StatusPayload is what integrators receive when a message's status rises.
type StatusPayload struct {
	Reference        provider.ReferenceID `json:"reference"`
	Ref              provider.ReferenceID `json:"ref"`
	RemoteJID        string               `json:"remoteJid"`
	Mine             bool                 `json:"mine"`
	ID               string               `json:"id"`
	PushName         string               `json:"pushName"`
	VerifiedBizName  string               `json:"verifiedBizName"`
	MessageTimestamp UnixTime             `json:"messageTimestamp"`
	Status           string               `json:"status" enum:"FAIL,PENDING,SENDING,DELIVERED,READ,PLAYED"`
}

// SessionPayload is what integrators receive when a session changes its state.
type SessionPayload struct {
	Reference provider.ReferenceID `json:"reference"`
	Ref       provider.ReferenceID `json:"ref"`
	State     State                `json:"state"`
	LastError *SessionError        `json:"lastError"`
	Timestamp UnixTime             `json:"timestamp"`
}

// Message is a message record: the payload and what only its owner may know.
type Message struct {
	MessagePayload
	Details
}

// Details holds the members of a message record that no payload has.
type Details struct {
	ChatID    string   `json:"chatId"`
	Direction string   `json:"direction" enum:"in,out"`
	Actor     Actor    `json:"actor" enum:"contact,user,api,bot,flow,agent,phone"`
	SentAs    string   `json:"sentAs,omitempty" doc:"The type that was sent when the line lacks the one asked for."`
	Error     *Failure `json:"error"`
}

// Failure is why a message failed or is in doubt.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Actor is who wrote a message.
type Actor string

// The actors.
const (
	ActorContact Actor = "contact"
	ActorUser    Actor = "user" // a person in the panel
	ActorAPI     Actor = "api"
	ActorBot     Actor = "bot"
	ActorFlow    Actor = "flow"
	ActorAgent   Actor = "agent"
	ActorPhone   Actor = "phone" // a person on the account's phone or page inbox
)

// view is the record of m in c.
func (m *messageRow) view(c *chatRow) Message {
	out := Message{MessagePayload: MessagePayload{Head: m.head(c)}, Details: m.details(c)}
	// A body is written by this package; one that cannot be read shows as empty text.
	_ = json.Unmarshal([]byte(m.Body), &out.Body)
	return out
}

func (m *messageRow) head(c *chatRow) Head {
	return Head{
		Reference: m.Reference, Ref: m.Reference, RemoteJID: c.address().RemoteJID(), Mine: m.Mine, ID: m.ID,
		PushName: m.PushName, VerifiedBizName: m.BizName, MessageTimestamp: unixTime(m.AtUS),
		Type: "text", Status: m.Status.String(),
	}
}

func (m *messageRow) details(c *chatRow) Details {
	d := Details{ChatID: c.ChatID, Direction: "in", Actor: m.Actor, SentAs: m.SentAs}
	if m.Mine {
		d.Direction = "out"
	}
	if m.ErrorCode != "" {
		d.Error = &Failure{m.ErrorCode, m.ErrorMessage}
	}
	return d
}

// payload is the [MessagePayload] of m in JSON. The body is not decoded for
// it: this runs for every message, while its chat is locked.
func (m *messageRow) payload(c *chatRow) json.RawMessage {
	return joinObjects(mustJSON(m.head(c)), json.RawMessage(m.Body))
}

// record is the [Message] of m in JSON, whose payload is given.
func (m *messageRow) record(c *chatRow, payload json.RawMessage) json.RawMessage {
	return joinObjects(payload, mustJSON(m.details(c)))
}

func (m *messageRow) statusPayload(c *chatRow) StatusPayload {
	return StatusPayload{
		Reference: m.Reference, Ref: m.Reference, RemoteJID: c.address().RemoteJID(), Mine: m.Mine, ID: m.ID,
		PushName: m.PushName, VerifiedBizName: m.BizName, MessageTimestamp: unixTime(m.AtUS), Status: m.Status.String(),
	}
}

// bodyOf puts what a network delivered into the members of the interface.
func bodyOf(msg *provider.Message) Body {
	b := words(msg.Content)
	if msg.ReplyTo != "" || msg.Forwarded {
		b.Context = &Quote{MessageID: msg.ReplyTo, Forwarded: msg.Forwarded}
	}
	if msg.Chat.Group {
		b.Participant = &Participant{RemoteJID: msg.From.RemoteJID(), PushName: msg.From.Name}
	}
	b.Referral = msg.Referral
	return b
}
