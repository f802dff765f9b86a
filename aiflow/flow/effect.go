package flow

import (
	"encoding/json"
	"time"
)

// Effect is something that a turn wants done outside of the run: one of the types
// below. All but a [Call] are performed in the transaction that stores the state.
type Effect interface{ effect() string }

type (
	// Send queues a message.
	Send struct {
		ID      string          `json:"id"`
		Node    string          `json:"node"`
		Message json.RawMessage `json:"message"`           // in the format of a send request
		ReplyTo string          `json:"replyTo,omitempty"` // the id of the message to reply to
		Typing  time.Duration   `json:"typing,omitempty"`  // how long to show typing
	}
	// Call calls something outside. Its result resumes the run as [EffectDone]. It
	// is one attempt: the interpreter decides about retries.
	Call struct {
		ID   string   `json:"id"`
		Node string   `json:"node"`
		Kind CallKind `json:"kind"`
		// Once reports that the call must not be made a second time when it is
		// unknown whether it was made: it then fails with the code effect.unknown.
		Once    bool          `json:"once,omitempty"`
		Key     string        `json:"key"` // the same for all attempts of one visit to the node
		Attempt int           `json:"attempt"`
		Timeout time.Duration `json:"timeout"`
		Request any           `json:"request"` // its type depends on Kind
	}
	// SetTimer asks for a [Timer] at a time.
	SetTimer struct {
		ID    string    `json:"id"`
		At    time.Time `json:"at"`
		Fixed bool      `json:"-"` // it does not move when a clock is set
	}
	// CancelTimer cancels a timer. If it fires nevertheless, its input is refused.
	CancelTimer struct {
		ID string `json:"id"`
	}
	// ContactChange changes the contact of the chat.
	ContactChange struct {
		ID         string         `json:"id"`
		Node       string         `json:"node"`
		AddTags    []string       `json:"addTags,omitempty"`
		RemoveTags []string       `json:"removeTags,omitempty"`
		Fields     map[string]any `json:"fields,omitempty"` // null removes a field
		Language   *string        `json:"language,omitempty"`
		OptedOut   *bool          `json:"optedOut,omitempty"`
	}
	// DataEvent is a data event for webhooks.
	DataEvent struct {
		ID   string         `json:"id"`
		Node string         `json:"node"`
		Name string         `json:"name"`
		Data map[string]any `json:"data,omitempty"`
	}
	// Handoff hands the chat over to a person.
	Handoff struct {
		ID     string `json:"id"`
		Node   string `json:"node"`
		Target string `json:"target,omitempty"`
		Note   string `json:"note,omitempty"`
		Pause  bool   `json:"pause"` // the bot is silent in the chat until the handoff ends
	}
	// EndHandoff reports that the run no longer waits for the person, because the
	// time is up or the run has ended.
	EndHandoff struct {
		ID string `json:"id"` // of the [Handoff]
	}
	// Ask shows a tool call that needs an approval: [Approval].
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

// CallKind determines what answers a [Call].
type CallKind string

// The kinds of calls, with the types of request and result.
const (
	CallHTTP      CallKind = "http"      // [HTTPRequest], [HTTPResponse]
	CallAssistant CallKind = "assistant" // [ModelRequest], [ModelResult]
	CallAgent     CallKind = "agent"     // [ModelRequest], [ModelResult]
	CallExtract   CallKind = "extract"   // [ModelRequest], [ModelResult]
	CallTool      CallKind = "tool"      // [ToolRequest], the tool's result as JSON
	CallNode      CallKind = "node"      // [NodeRequest], [NodeResult]: a function of [NodeFunc]
)

// TraceRow is one step of a turn in the trace of a run.
type TraceRow struct {
	Seq    int            `json:"seq"` // position in the run, from 1
	Node   string         `json:"node"`
	Type   string         `json:"type"`
	Output string         `json:"output,omitempty"` // "" while the node waits and at the end of a path
	Path   []string       `json:"path,omitempty"`   // the frames above the node: each[2], call:vat
	In     map[string]any `json:"in,omitempty"`     // the node's input; secret variables are masked
	Out    map[string]any `json:"out,omitempty"`    // the node's result
	At     time.Time      `json:"at"`
	Error  *Error         `json:"error,omitempty"`
	// Retry counts the retries of the run, on the first step after one.
	Retry int `json:"retry,omitempty"`
	// Warning is an error that the node ignored.
	Warning string `json:"warning,omitempty"`
}

// HTTPRequest is a [CallHTTP].
type HTTPRequest struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"` // with its query
	Headers    map[string]string `json:"headers,omitempty"`
	Credential string            `json:"credential,omitempty"` // id of the credential to add to the request
	Body       HTTPBody          `json:"body,omitzero"`
	MaxBytes   int64             `json:"maxBytes"` // of the response; more is http.too_large
}

// HTTPBody is the body of a request.
type HTTPBody struct {
	Type string            `json:"type,omitempty"` // the media type; "multipart/form-data" without a boundary
	Text string            `json:"text,omitempty"`
	Form map[string]string `json:"form,omitempty"` // the parts of multipart/form-data
}

// HTTPResponse is the result of a [CallHTTP]. It may have any status: the node
// decides which ones are a success.
type HTTPResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // names in lower case
	Body    any               `json:"body,omitempty"`    // the decoded value of a JSON response, else a string
}

// ModelRequest is a [CallAssistant], a [CallAgent] or a [CallExtract].
type ModelRequest struct {
	Model         string          `json:"model"`
	FallbackModel string          `json:"fallbackModel,omitempty"`
	Instructions  string          `json:"instructions,omitempty"`
	Input         string          `json:"input"`
	Message       string          `json:"message,omitempty"`     // the id of the message to answer
	Attachments   any             `json:"attachments,omitempty"` // the input's media
	Memory        Memory          `json:"memory,omitzero"`
	JSON          bool            `json:"json,omitempty"` // the answer must be JSON of Schema
	Schema        json.RawMessage `json:"schema,omitempty"`
	Repair        int             `json:"repair,omitempty"`
	Temperature   float64         `json:"temperature"`
	MaxTokens     int             `json:"maxOutputTokens,omitempty"`
	Locale        string          `json:"locale,omitempty"` // of the text, or of the contact
	Spoken        bool            `json:"spoken,omitempty"` // the contact waits for the answer
	Agent         *AgentRequest   `json:"agent,omitempty"`

	// Filled reports that Instructions or Input contain values of expressions,
	// except when the whole input is the contact's message. Authored is then the
	// part of the instructions that the author wrote, and Said is the contact's
	// message.
	Filled   bool   `json:"filled,omitempty"`
	Authored string `json:"authored,omitempty"`
	Said     string `json:"said,omitempty"`
	// Secret reports that they contain the value of a secret variable or argument.
	Secret bool `json:"secret,omitempty"`
}

// Author returns the part of the instructions that the author of the flow wrote.
func (r *ModelRequest) Author() string {
	if r.Filled {
		return r.Authored
	}
	return r.Instructions
}

// AgentRequest is the part of a request that only a [CallAgent] has.
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
	// Outputs are the connected outputs of the node. Without one for
	// [FinishHandoff] the agent cannot ask for a person. Without one for
	// [FinishLimit] it answers as well as it can at a limit.
	Outputs    []string  `json:"outputs,omitempty"`
	Resume     any       `json:"resume,omitempty"`    // state of the agent: [ModelResult].Resume
	Approved   *bool     `json:"approved,omitempty"`  // the answer to [FinishApproval]
	ApprovedAt time.Time `json:"approvedAt,omitzero"` // when it was given
}

// Memory configures what a model remembers of earlier messages.
type Memory struct {
	Scope    string `json:"scope"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Summary  bool   `json:"summary,omitempty"`
}

// ModelResult is the answer of a model or an agent.
type ModelResult struct {
	Finish Finish `json:"finish"`
	Text   string `json:"text,omitempty"`
	Value  any    `json:"value,omitempty"`  // the JSON that was requested
	Resume any    `json:"resume,omitempty"` // passed back with the next request

	Tool      string `json:"tool,omitempty"`      // with [FinishApproval]
	Arguments any    `json:"arguments,omitempty"` // with [FinishApproval]

	// How the answer came about, for the trace.
	StopReason string        `json:"stopReason,omitempty"` // why the model or the agent stopped, in one word
	Usage      *ModelUsage   `json:"usage,omitempty"`
	Sources    []ModelSource `json:"sources,omitempty"` // the files of which the model got parts
}

// ModelUsage is the usage of an answer of a model or an agent: the sum over all
// calls of models.
type ModelUsage struct {
	Model        string `json:"model,omitempty"` // the model that answered last, provider/model
	Calls        int64  `json:"calls"`
	InputTokens  int64  `json:"inputTokens"`
	OutputTokens int64  `json:"outputTokens"`
	Cost         *int64 `json:"cost"` // in nano-USD; nil: the price of a call is unknown
}

// ModelSource is a part of a file that a model got.
type ModelSource struct {
	File string `json:"file"` // its id
	Name string `json:"name"`
	Part int    `json:"part"` // number of the part, from 1
}

// Finish is the reason why a model or an agent stopped.
type Finish string

// Reasons why a model or an agent stops.
const (
	FinishDone     Finish = "done"
	FinishInvalid  Finish = "invalid"  // the answer does not fit its schema
	FinishRefused  Finish = "refused"  // the assistant refused to answer
	FinishLimit    Finish = "limit"    // steps, tool calls or tokens of an agent are used up
	FinishDenied   Finish = "denied"   // an approval was refused
	FinishHandoff  Finish = "handoff"  // the agent asks for a person
	FinishAsk      Finish = "ask"      // a conversing agent says Text and waits for the reply
	FinishApproval Finish = "approval" // the agent needs an approval for Tool
)

// ToolRequest is a [CallTool].
type ToolRequest struct {
	Server    string         `json:"server"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments,omitempty"`
	// Auto reports that the tool's own hints determine whether the call may be
	// retried. If it may, its error has the detail {"safe": true}.
	Auto bool `json:"auto,omitempty"`
}
