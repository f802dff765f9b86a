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
		Typing  time.Duration   `json:"typing,omitempty"`  // how long to show typing
	}
	// Call asks the world and resumes the run with what it answers:
	// [EffectDone]. It is one attempt; repeating is up to the interpreter.
	Call struct {
		ID   string   `json:"id"`
		Node string   `json:"node"`
		Kind CallKind `json:"kind"`
		// Once says that the call must not be made a second time when it
		// is not known whether it was made: it ends with the code effect.unknown.
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
	// EndHandoff says that the run no longer waits for the person: the time is
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

// TraceRow is one step of a turn, for people who look at what a run did.
type TraceRow struct {
	Seq    int            `json:"seq"` // counts through the run, from 1
	Node   string         `json:"node"`
	Type   string         `json:"type"`
	Output string         `json:"output,omitempty"` // none while the node waits, and where a graph ends
	Path   []string       `json:"path,omitempty"`   // the frames above the node: each[2], call:vat
	In     map[string]any `json:"in,omitempty"`     // what the node was given; secret variables are masked
	Out    map[string]any `json:"out,omitempty"`    // what it made
	At     time.Time      `json:"at"`
	Error  *Error         `json:"error,omitempty"`
	// Retry counts the retries of the run, on the first step after one.
	Retry int `json:"retry,omitempty"`
	// Warning is a problem that the node passed over.
	Warning string `json:"warning,omitempty"`
}

// HTTPRequest is a [CallHTTP].
type HTTPRequest struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"` // with its query
	Headers    map[string]string `json:"headers,omitempty"`
	Credential string            `json:"credential,omitempty"` // the id of what the caller adds to the request
	Body       HTTPBody          `json:"body,omitzero"`
	MaxBytes   int64             `json:"maxBytes"` // of the response; more is http.too_large
}

// HTTPBody is what a request carries.
type HTTPBody struct {
	Type string            `json:"type,omitempty"` // the media type; "multipart/form-data" without a boundary
	Text string            `json:"text,omitempty"`
	Form map[string]string `json:"form,omitempty"` // the parts of multipart/form-data
}

// HTTPResponse is the result of a [CallHTTP]. A server's refusal is a
// response too: the node's success decides.
type HTTPResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // names in lower case
	Body    any               `json:"body,omitempty"`    // a JSON value when the response is JSON, else a string
}

// ModelRequest is a [CallAssistant], a [CallAgent] or a [CallExtract].
type ModelRequest struct {
	Model         string          `json:"model"`
	FallbackModel string          `json:"fallbackModel,omitempty"`
	Instructions  string          `json:"instructions,omitempty"`
	Input         string          `json:"input"`
	Message       string          `json:"message,omitempty"`     // the id of the message that it answers
	Attachments   any             `json:"attachments,omitempty"` // the input's media
	Memory        Memory          `json:"memory,omitzero"`
	JSON          bool            `json:"json,omitempty"` // JSON is wanted, of Schema
	Schema        json.RawMessage `json:"schema,omitempty"`
	Repair        int             `json:"repair,omitempty"`
	Temperature   float64         `json:"temperature"`
	MaxTokens     int             `json:"maxOutputTokens,omitempty"`
	Locale        string          `json:"locale,omitempty"` // of the text, or of the contact
	Spoken        bool            `json:"spoken,omitempty"` // the contact waits for the answer
	Agent         *AgentRequest   `json:"agent,omitempty"`

	// Filled says that Instructions or Input hold values of expressions, other
	// than the message of the contact as the whole input. Then Authored is the
	// author's part of the instructions, and Said is the contact's message.
	Filled   bool   `json:"filled,omitempty"`
	Authored string `json:"authored,omitempty"`
	Said     string `json:"said,omitempty"`
	// Secret says that they hold the value of a secret variable or argument.
	Secret bool `json:"secret,omitempty"`
}

// Author is the part of the instructions that the author of the flow wrote.
func (r *ModelRequest) Author() string {
	if r.Filled {
		return r.Authored
	}
	return r.Instructions
}

// AgentRequest is what a [CallAgent] has beside its [ModelRequest].
type AgentRequest struct {
	Servers      []string      `json:"servers,omitempty"`
	Tools        []string      `json:"tools,omitempty"`
	Functions    []string      `json:"functions,omitempty"`
	Approval     string        `json:"approval"`
	MaxSteps     int           `json:"maxSteps"`
	MaxToolCalls int           `json:"maxToolCalls"`
	TokenBudget  int           `json:"tokenBudget"`
	ToolTimeout  time.Duration `json:"toolTimeout"`
	Converse     bool          `json:"converse,omitempty"`
	// Outputs are those of the node that lead on: an agent is not offered a
	// person where [FinishHandoff] leads nowhere, and answers as well as it can
	// where [FinishLimit] does.
	Outputs    []string  `json:"outputs,omitempty"`
	Resume     any       `json:"resume,omitempty"`    // what the agent kept: [ModelResult].Resume
	Approved   *bool     `json:"approved,omitempty"`  // the answer to [FinishApproval]
	ApprovedAt time.Time `json:"approvedAt,omitzero"` // when it was given
}

// Memory is what a model is told of earlier messages.
type Memory struct {
	Scope    string `json:"scope"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Summary  bool   `json:"summary,omitempty"`
}

// ModelResult is what a model or an agent answered.
type ModelResult struct {
	Finish Finish `json:"finish"`
	Text   string `json:"text,omitempty"`
	Value  any    `json:"value,omitempty"`  // the JSON that was wanted
	Resume any    `json:"resume,omitempty"` // given back with the next request

	Tool      string `json:"tool,omitempty"`      // with [FinishApproval]
	Arguments any    `json:"arguments,omitempty"` // with [FinishApproval]

	// What the trace shows of how the answer came about.
	StopReason string        `json:"stopReason,omitempty"` // why the model or the agent stopped, in one word
	Usage      *ModelUsage   `json:"usage,omitempty"`
	Sources    []ModelSource `json:"sources,omitempty"` // the files that the model was shown parts of
}

// ModelUsage is what the answer of a model or an agent took, all calls of models
// together.
type ModelUsage struct {
	Model        string `json:"model,omitempty"` // that answered last, provider/model
	Calls        int64  `json:"calls"`
	InputTokens  int64  `json:"inputTokens"`
	OutputTokens int64  `json:"outputTokens"`
	Cost         *int64 `json:"cost"` // in nano-USD; nil: that of some call is not known
}

// ModelSource is a part of a file that a model was shown.
type ModelSource struct {
	File string `json:"file"` // its id
	Name string `json:"name"`
	Part int    `json:"part"` // which of its parts, from 1
}

// Finish says why a model or an agent stopped.
type Finish string

// Why a model or an agent stops.
const (
	FinishDone     Finish = "done"
	FinishInvalid  Finish = "invalid"  // the answer does not fit its schema
	FinishRefused  Finish = "refused"  // an assistant declined
	FinishLimit    Finish = "limit"    // steps, tool calls or tokens of an agent are used up
	FinishDenied   Finish = "denied"   // consent was refused
	FinishHandoff  Finish = "handoff"  // the agent wants a person
	FinishAsk      Finish = "ask"      // a conversing agent says Text and waits for the reply
	FinishApproval Finish = "approval" // an agent wants consent for Tool
)

// ToolRequest is a [CallTool].
type ToolRequest struct {
	Server    string         `json:"server"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments,omitempty"`
	// Auto says that the tool's own hints decide whether the call may be
	// repeated. The error of one that may has the detail {"safe": true}.
	Auto bool `json:"auto,omitempty"`
}
