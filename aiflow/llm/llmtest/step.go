package llmtest

import (
	"cmp"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Step is a step of a scripted model. Exactly one of Response, Err, Do and Body
// must be set, or both Response and Err: a streamed answer then ends in the middle
// with this error.
type Step struct {
	// Response is the answer. Empty fields are filled in: the provider, the reason
	// to stop, and a usage computed by [llm.Estimate]. A [Server] adds Message.Raw
	// as data that only one provider has: an object with members of the message for
	// OpenAI; a list of blocks before the others for Anthropic.
	Response *llm.Response
	// Err is the error. A [Server] converts an [*llm.Error] to the provider's error
	// response with its Status and After; without a Status it uses the one for its
	// Code.
	Err error
	// Do returns the answer or the error, with the meaning of Response and Err.
	Do func(r *llm.Request) (*llm.Response, error)
	// Body is written by a [Server], with status 200, instead of a valid answer. In
	// a [Script] it means [llm.CodeMalformed].
	Body []byte

	// Wait is the time before the model starts to answer.
	Wait time.Duration
	// Pause is the time between two parts of a streamed answer.
	Pause time.Duration
	// Truncate ends the answer after half of its text and half of the arguments of
	// its calls, as if the connection broke.
	Truncate bool
	// NoUsage omits the usage.
	NoUsage bool
	// Repeat repeats the step for all further requests.
	Repeat bool
}

// Say returns a step that answers with a text.
func Say(text string) Step {
	return Step{Response: &llm.Response{Message: llm.Assistant(text)}}
}

// Call returns a step that calls tools.
func Call(calls ...llm.ToolCall) Step {
	return Step{Response: &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Calls: calls}}}
}

// Fail returns a step that fails.
func Fail(err error) Step { return Step{Err: err} }

// answer returns the complete answer of a step to a request. With both an answer
// and an error, the error truncates the answer.
func (s Step) answer(r *llm.Request, provider string) (*llm.Response, error) {
	res, err := s.Response, s.Err
	if s.Do != nil {
		res, err = s.Do(r)
	}
	if res == nil {
		return nil, err
	}
	out := *res
	out.Message.Role = llm.RoleAssistant
	if out.Stop == "" {
		out.Stop = llm.StopDone
		if len(out.Message.Calls) > 0 {
			out.Stop = llm.StopTools
		}
	}
	out.Provider = cmp.Or(out.Provider, provider)
	out.Model = cmp.Or(out.Model, r.Model)
	switch {
	case s.NoUsage:
		out.Usage = llm.Usage{}
	case out.Usage == llm.Usage{}:
		out.Usage = llm.Usage{Known: true, Input: r.Estimate(), Output: out.Message.Estimate()}
	}
	return &out, err
}
