package flow

import (
	"encoding/json"
	"time"
)

// Effect is something that a turn wants done in the world: one of the types
// below. All but a [Call] are done in the transaction that stores the state.
type Effect interface{ effect() string }

type (
	// Send queues a message.
	Send struct {
		ID      string          `json:"id"`
		Node    string          `json:"node"`
		Message json.RawMessage `json:"message"`           // as the send request has it
		ReplyTo string          `json:"replyTo,omitempty"` // the id of the message that it answers
		Typing  time.Duration   `json:"typing,omitempty"`  // how long to show that somebody types
	}
	// Call asks the world and resumes the run with what it answers:
	// [EffectDone]. It is one attempt; repeating is up to the interpreter.
	Call struct {
		ID   string   `json:"id"`
		Node string   `json:"node"`
		Kind CallKind `json:"kind"`
		// Once says that the call must not be made a second time when nobody
		// knows whether it was made: it ends with the code effect.unknown.
		Once    bool          `json:"once,omitempty"`
		Key     string        `json:"key"` // the same for all attempts of one visit to the node
		Attempt int           `json:"attempt"`
		Timeout time.Duration `json:"timeout"`
		Request any           `json:"request"` // of the type that the kind names
	}
	// SetTimer asks for a [Timer] at a time.
	SetTimer struct {
		ID string    `json:"id"`
		At time.Time `json:"at"`
	}
	// CancelTimer takes a timer back. One that comes all the same is refused.
	CancelTimer struct {
		ID string `json:"id"`
	}
	// ContactChange changes the contact of the chat.
	ContactChange struct {
		ID         string         `json:"id"`
		Node       string         `json:"node"`
		AddTags    []string       `json:"addTags,omitempty"`
		RemoveTags []string       `json:"removeTags,omitempty"`
		Fields     map[string]any `json:"fields,omitempty"` // null removes one
		Language   *string        `json:"language,omitempty"`
		OptedOut   *bool          `json:"optedOut,omitempty"`
	}
	// DataEvent makes a data event for webhooks.
	DataEvent struct {
		ID   string         `json:"id"`
		Node string         `json:"node"`
		Name string         `json:"name"`
		Data map[string]any `json:"data,omitempty"`
	}
	// Handoff asks for a person.
	Handoff struct {
		ID     string `json:"id"`
		Node   string `json:"node"`
		Target string `json:"target,omitempty"`
		Note   string `json:"note,omitempty"`
		Pause  bool   `json:"pause"` // the bot is silent in the chat until it is over
	}
	// EndHandoff says that nobody waits for the person any more: the time is
	// up, or the run ended.
	EndHandoff struct {
		ID string `json:"id"` // of the [Handoff]
	}
	// Ask shows a tool call that waits for consent: [Approval].
	Ask struct {
		ID        string `json:"id"`
		Node      string `json:"node"`
		Tool      string `json:"tool"`
		Arguments any    `json:"arguments,omitempty"`
	}
	// Jump starts another flow in this chat once this run has ended.
	Jump struct {
		ID    string         `json:"id"`
		Flow  string         `json:"flow"` // its slug
		Input map[string]any `json:"input,omitempty"`
	}
)

func (Send) effect() string          { return "send" }
func (Call) effect() string          { return "call" }
func (SetTimer) effect() string      { return "timer" }
func (CancelTimer) effect() string   { return "cancelTimer" }
func (ContactChange) effect() string { return "contact" }
func (DataEvent) effect() string     { return "event" }
func (Handoff) effect() string       { return "handoff" }
func (EndHandoff) effect() string    { return "endHandoff" }
func (Ask) effect() string           { return "ask" }
func (Jump) effect() string          { return "jump" }

// CallKind says who answers a [Call].
type CallKind string

// Who answers a [Call].
const (
	CallHTTP      CallKind = "http"      // [HTTPRequest], [HTTPResponse]
	CallAssistant CallKind = "assistant" // [ModelRequest], [ModelResult]
	CallAgent     CallKind = "agent"     // [ModelRequest], [ModelResult]
	CallExtract   CallKind = "extract"   // [ModelRequest], [ModelResult]
	CallTool      CallKind = "tool"      // [ToolRequest], the tool's result as JSON
	CallNode      CallKind = "node"      // [NodeRequest], [NodeResult]: a function of [NodeFunc]
)
