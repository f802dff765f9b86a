package payload

import (
	"github.com/trunklinehq/trunkline/provider"
)

// MessagePayload is what integrators receive for a message. Its JSON is one
// object with the members of all its parts; decoding takes any type.
type MessagePayload struct {
	Head
	Body
	// Error is why an attachment could not be had, or why an own message has
	// the status FAIL; else nil, and no member.
	Error *Failure `json:"error,omitempty" doc:"The reason why the file is not available or, with the status FAIL, why the message failed."`
}

// Head holds the members that every message has.
type Head struct {
	Reference        provider.ReferenceID `json:"reference" example:"1"`
	Ref              provider.ReferenceID `json:"ref" doc:"Same value as reference." example:"1"`
	RemoteJID        string               `json:"remoteJid" example:"16505551234::single"`
	ChatID           string               `json:"chatId" doc:"Id of the chat, for use in a send." example:"16505551234"`
	Mine             bool                 `json:"mine" doc:"Whether the account wrote it."`
	ID               string               `json:"id" example:"wamid.HBgL"`
	RequestID        string               `json:"requestId,omitempty" doc:"Id that this server gave a sent message. It does not change, and the answer of the send has it; id has the same value until the network assigns one." example:"out-01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44"`
	ClientID         string               `json:"clientId,omitempty" doc:"The clientId of the send." example:"order-1001"`
	PushName         string               `json:"pushName" example:"Ana"`
	VerifiedBizName  string               `json:"verifiedBizName"`
	MessageTimestamp UnixTime             `json:"messageTimestamp" example:"1772366400"`
	Status           string               `json:"status" enum:"FAIL,PENDING,SENDING,DELIVERED,READ,PLAYED" example:"DELIVERED"`
}

// StatusPayload is what integrators receive when a message's status rises.
type StatusPayload struct {
	Head
	At    UnixTime `json:"at" doc:"Time at which the message reached the status, as the network reports it; if the network does not say, the time of the report." example:"1772366400"`
	Error *Failure `json:"error,omitempty" doc:"With the status FAIL: the reason."`
}

// CallPayload is what integrators receive when a contact calls.
type CallPayload struct {
	Reference        provider.ReferenceID `json:"reference" example:"1"`
	Ref              provider.ReferenceID `json:"ref" doc:"Same value as reference." example:"1"`
	RemoteJID        string               `json:"remoteJid" example:"16505551234::single"`
	ChatID           string               `json:"chatId" doc:"Id of the chat, for use in a send." example:"16505551234"`
	ID               string               `json:"id" doc:"Id of the call, the same in all of its events." example:"wacid.HBgL"`
	Status           provider.CallStatus  `json:"status" enum:"ringing,accepted,rejected,missed,ended" example:"ringing"`
	Video            bool                 `json:"video"`
	MessageTimestamp UnixTime             `json:"messageTimestamp" example:"1772366400"`

	RejectedBy provider.CallRejection `json:"rejectedBy,omitempty" enum:"setting,api" doc:"With the status rejected: what of this server rejected it, settings.calls or a request. Absent if the call was rejected on the phone."`
}

// SessionPayload is what integrators receive when a session changes its state.
type SessionPayload struct {
	Reference provider.ReferenceID `json:"reference" example:"1"`
	Ref       provider.ReferenceID `json:"ref" doc:"Same value as reference." example:"1"`
	State     State                `json:"state" enum:"STOPPED,STARTING,PAIRING,CONNECTED,RECONNECTING,LOGGED_OUT,FAILED" example:"CONNECTED"`
	LastError *SessionError        `json:"lastError"`
	Timestamp UnixTime             `json:"timestamp" example:"1772366400"`
}

// Message is a message record: what its payload says, and what only its owner
// may know. Its JSON is one object.
type Message struct {
	Head
	Body
	Details
}

// Details holds the members of a message record that no payload has.
type Details struct {
	Direction string   `json:"direction" enum:"in,out"`
	Actor     Actor    `json:"actor" enum:"contact,user,api,bot,flow,agent,phone"`
	SentAs    string   `json:"sentAs,omitempty" doc:"Type that was sent, if the network does not support the requested type."`
	Error     *Failure `json:"error"`
}

// Failure is why a message failed or is in doubt.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty" doc:"What you can do about it, if that is known."`
}

// Text is the message, with the advice in brackets.
func (f Failure) Text() string { return provider.Failure(f).Text() }

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
