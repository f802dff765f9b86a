package llm

import (
	"context"
	"encoding/json"
)

// Model answers requests. It makes one attempt and is safe for concurrent
// use; [Retry] makes several. Its errors are [*Error]s, or the context's.
type Model interface {
	Generate(ctx context.Context, r *Request) (*Response, error)
}

// Request is a request to a model.
type Request struct {
	Model    string    // the provider's name of the model
	System   string    // the instructions
	Messages []Message // in order; the last one is of the user, or has the results of tools
	Tools    []ToolSpec
	// Choice controls whether the model may call tools. Zero: the model decides.
	Choice ToolChoice
	// Schema is a JSON Schema (2020-12) of an object that the answer must match.
	// nil: the answer is a text. Not every provider enforces it, so the answer must
	// be validated.
	Schema json.RawMessage
	// Temperature is from 0, the most likely words, to 2. nil: the provider's
	// default.
	Temperature *float64
	MaxTokens   int // of the answer; 0: DefaultMaxTokens
	// OnText receives the parts of the text as they arrive, on the goroutine of
	// Generate. nil: the answer is not streamed.
	OnText func(part string)
}

// DefaultMaxTokens is the maximum length of an answer if the request has none.
const DefaultMaxTokens = 1024

// ToolChoice controls whether a model may call tools.
type ToolChoice string

// Values of [ToolChoice].
const (
	ChoiceAuto     ToolChoice = ""
	ChoiceNone     ToolChoice = "none"
	ChoiceRequired ToolChoice = "required"
)

// Response is the answer of a model.
type Response struct {
	Message  Message
	Stop     Stop
	Usage    Usage
	Provider string // the provider that answered: "openai"
	Model    string // the model that answered, as the provider calls it; not always the requested one
}

// Stop is the reason why a model stopped.
type Stop string

// Reasons why a model stops.
const (
	StopDone    Stop = "done"
	StopTools   Stop = "tools"   // it requests the calls in Message.Calls
	StopLength  Stop = "length"  // it has reached MaxTokens
	StopRefused Stop = "refused" // it refuses to answer, or a filter of the provider does
)

// Usage is the number of tokens of a call.
type Usage struct {
	Known        bool  `json:"known"`        // the provider returned it; otherwise all fields are 0
	Input        int64 `json:"input"`        // total, including cached tokens
	Output       int64 `json:"output"`       // total, including Reasoning
	CacheRead    int64 `json:"cacheRead"`    // part of Input
	CacheWrite   int64 `json:"cacheWrite"`   // part of Input; cached for minutes
	CacheWrite1h int64 `json:"cacheWrite1h"` // part of Input, in addition to CacheWrite; cached for an hour
	Reasoning    int64 `json:"reasoning"`    // part of Output
}
