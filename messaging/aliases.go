package messaging

import "github.com/trunklinehq/trunkline/messaging/payload"

// The types of package [payload], which holds what integrators receive.
type (
	Actor          = payload.Actor
	Attachment     = payload.Attachment
	Body           = payload.Body
	CallPayload    = payload.CallPayload
	ChatUpdate     = payload.ChatUpdate
	Details        = payload.Details
	Event          = payload.Event
	EventType      = payload.EventType
	Extras         = payload.Extras
	Failure        = payload.Failure
	Form           = payload.Form
	Head           = payload.Head
	Message        = payload.Message
	MessagePayload = payload.MessagePayload
	MessageRef     = payload.MessageRef
	Participant    = payload.Participant
	Poll           = payload.Poll
	Quote          = payload.Quote
	SentTemplate   = payload.SentTemplate
	SessionError   = payload.SessionError
	SessionPayload = payload.SessionPayload
	State          = payload.State
	StatusPayload  = payload.StatusPayload
	UnixTime       = payload.UnixTime
)

// The constants of package [payload].
const (
	ActorAPI          = payload.ActorAPI
	ActorAgent        = payload.ActorAgent
	ActorBot          = payload.ActorBot
	ActorContact      = payload.ActorContact
	ActorFlow         = payload.ActorFlow
	ActorPhone        = payload.ActorPhone
	ActorUser         = payload.ActorUser
	EventCalls        = payload.EventCalls
	EventMessage      = payload.EventMessage
	EventSession      = payload.EventSession
	EventStatus       = payload.EventStatus
	StateConnected    = payload.StateConnected
	StateFailed       = payload.StateFailed
	StateLoggedOut    = payload.StateLoggedOut
	StatePairing      = payload.StatePairing
	StateReconnecting = payload.StateReconnecting
	StateStarting     = payload.StateStarting
	StateStopped      = payload.StateStopped
	TypeAudio         = payload.TypeAudio
	TypeDocument      = payload.TypeDocument
	TypeImage         = payload.TypeImage
	TypeText          = payload.TypeText
	TypeVideo         = payload.TypeVideo
)
