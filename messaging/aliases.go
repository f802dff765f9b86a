package messaging

import "github.com/trunklinehq/trunkline/messaging/payload"

// What integrators receive is in package payload.
type (
	// Actor is [payload.Actor].
	Actor = payload.Actor
	// Attachment is [payload.Attachment].
	Attachment = payload.Attachment
	// Body is [payload.Body].
	Body = payload.Body
	// CallPayload is [payload.CallPayload].
	CallPayload = payload.CallPayload
	// ChatUpdate is [payload.ChatUpdate].
	ChatUpdate = payload.ChatUpdate
	// Details is [payload.Details].
	Details = payload.Details
	// Erased is [payload.Erased].
	Erased = payload.Erased
	// Erasure is [payload.Erasure].
	Erasure = payload.Erasure
	// Event is [payload.Event].
	Event = payload.Event
	// EventType is [payload.EventType].
	EventType = payload.EventType
	// Extras is [payload.Extras].
	Extras = payload.Extras
	// Failure is [payload.Failure].
	Failure = payload.Failure
	// Form is [payload.Form].
	Form = payload.Form
	// Group is [payload.Group].
	Group = payload.Group
	// GroupMember is [payload.GroupMember].
	GroupMember = payload.GroupMember
	// GroupRefusal is [payload.GroupRefusal].
	GroupRefusal = payload.GroupRefusal
	// Head is [payload.Head].
	Head = payload.Head
	// Health is [payload.Health].
	Health = payload.Health
	// HealthReport is [payload.HealthReport].
	HealthReport = payload.HealthReport
	// Message is [payload.Message].
	Message = payload.Message
	// MessagePayload is [payload.MessagePayload].
	MessagePayload = payload.MessagePayload
	// MessageRef is [payload.MessageRef].
	MessageRef = payload.MessageRef
	// NewGroup is [payload.NewGroup].
	NewGroup = payload.NewGroup
	// Number is [payload.Number].
	Number = payload.Number
	// Participant is [payload.Participant].
	Participant = payload.Participant
	// Poll is [payload.Poll].
	Poll = payload.Poll
	// PollResult is [payload.PollResult].
	PollResult = payload.PollResult
	// Passkey is [payload.Passkey].
	Passkey = payload.Passkey
	// QR is [payload.QR].
	QR = payload.QR
	// Quote is [payload.Quote].
	Quote = payload.Quote
	// SentTemplate is [payload.SentTemplate].
	SentTemplate = payload.SentTemplate
	// Session is [payload.Session].
	Session = payload.Session
	// SessionAccount is [payload.SessionAccount].
	SessionAccount = payload.SessionAccount
	// SessionError is [payload.SessionError].
	SessionError = payload.SessionError
	// SessionPayload is [payload.SessionPayload].
	SessionPayload = payload.SessionPayload
	// State is [payload.State].
	State = payload.State
	// StatusPayload is [payload.StatusPayload].
	StatusPayload = payload.StatusPayload
	// Template is [payload.Template].
	Template = payload.Template
	// TemplateButton is [payload.TemplateButton].
	TemplateButton = payload.TemplateButton
	// TemplatePreview is [payload.TemplatePreview].
	TemplatePreview = payload.TemplatePreview
	// UnixTime is [payload.UnixTime].
	UnixTime = payload.UnixTime
)

// The constants of package payload.
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
