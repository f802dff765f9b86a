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

// Request is what a model is asked.
type Request struct {
	Model    string    // the provider's name of the model
	System   string    // what it is told before all else
	Messages []Message // in order; the last is of the user, or the results of tools
	Tools    []ToolSpec
	// Choice says whether tools may be called. Zero: the model decides.
	Choice ToolChoice
	// Schema is a JSON Schema (2020-12) of an object that the answer must fit.
	// nil: the answer is a text. Providers differ in how strictly they keep to
	// it, so the answer must be validated.
	Schema json.RawMessage
	// Temperature is from 0, the likeliest words, to 2. nil: the provider's.
	Temperature *float64
	MaxTokens   int // of the answer; 0: DefaultMaxTokens
	// OnText receives the parts of the text as they come, on the goroutine of
	// Generate. nil: the answer comes whole.
	OnText func(part string)
}

// DefaultMaxTokens is how long an answer may be when its request does not say.
const DefaultMaxTokens = 1024

// ToolChoice says whether a model may call tools.
type ToolChoice string

// Whether a model may call tools.
const (
	ChoiceAuto     ToolChoice = ""
	ChoiceNone     ToolChoice = "none"
	ChoiceRequired ToolChoice = "required"
)

// Response is what a model answered.
type Response struct {
	Message  Message
	Stop     Stop
	Usage    Usage
	Provider string // who answered: "openai"
	Model    string // the model that answered, as the provider calls it; it may be another than asked
}

// Stop says why a model stopped.
type Stop string

// Why a model stops.
const (
	StopDone    Stop = "done"
	StopTools   Stop = "tools"   // it wants the tools of Message.Calls called
	StopLength  Stop = "length"  // MaxTokens are used up
	StopRefused Stop = "refused" // it declines, or a filter of the provider does
)

// Usage is what an answer took, in tokens.
type Usage struct {
	Known        bool  `json:"known"`        // the provider said it; else all is 0
	Input        int64 `json:"input"`        // all of it: the cached parts are inside
	Output       int64 `json:"output"`       // all of it: Reasoning is inside
	CacheRead    int64 `json:"cacheRead"`    // inside Input
	CacheWrite   int64 `json:"cacheWrite"`   // inside Input; kept for minutes
	CacheWrite1h int64 `json:"cacheWrite1h"` // inside Input, beside CacheWrite; kept for an hour
	Reasoning    int64 `json:"reasoning"`    // inside Output
}
