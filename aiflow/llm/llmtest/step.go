package llmtest

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Step is what a scripted model does when it is asked. One of Response, Err,
// Do and Body is set, or Err beside Response: then the answer is broken off in
// the middle with this error, if it is streamed.
type Step struct {
	// Response is the answer. What it leaves empty is filled in: who answers,
	// why it stopped, and a usage that [llm.Estimate] counts. A [Server] adds its
	// Message.Raw as what only one provider has: members of the message for
	// OpenAI, an object; blocks in front of the others for Anthropic, a list.
	Response *llm.Response
	// Err is why there is no answer. Of an [*llm.Error] a [Server] makes the
	// response that a provider gives: its Status and After, or the status that
	// fits its Code.
	Err error
	// Do finds the answer. What it returns is treated as the two above are.
	Do func(r *llm.Request) (*llm.Response, error)
	// Body is what a [Server] writes, with status 200, in place of an answer
	// that can be understood. From a [Script] it is [llm.CodeMalformed].
	Body []byte

	// Wait is how long the model thinks before it says anything.
	Wait time.Duration
	// Pause is how long it thinks between two parts of what it streams.
	Pause time.Duration
	// Truncate ends the answer after half of its text and half of the arguments of
	// its calls, as a broken connection does.
	Truncate bool
	// NoUsage leaves out what the answer took.
	NoUsage bool
	// Repeat keeps the step: it is used for all that follows.
	Repeat bool
}

// Say answers with a text.
func Say(text string) Step {
	return Step{Response: &llm.Response{Message: llm.Assistant(text)}}
}

// Call answers with calls of tools.
func Call(calls ...llm.ToolCall) Step {
	return Step{Response: &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Calls: calls}}}
}

// Fail does not answer.
func Fail(err error) Step { return Step{Err: err} }

// answer is what a step says to a request, complete. An error beside an answer
// breaks that off.
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
	if out.Provider == "" {
		out.Provider = provider
	}
	if out.Model == "" {
		out.Model = r.Model
	}
	switch {
	case s.NoUsage:
		out.Usage = llm.Usage{}
	case out.Usage == llm.Usage{}:
		out.Usage = llm.Usage{Known: true, Input: r.Estimate(), Output: out.Message.Estimate()}
	}
	return &out, err
}
