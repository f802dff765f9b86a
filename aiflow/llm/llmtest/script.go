package llmtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Script is a model that follows a list of steps. It is safe for concurrent use; it
// then uses the steps in the order in which requests arrive.
type Script struct{ script }

// NewScript returns a model with steps. A request after the last step fails with
// [llm.CodeInvalid], which is not retried, and [Script.Done] reports it.
func NewScript(steps ...Step) *Script {
	return &Script{script{steps: slices.Clone(steps)}}
}

// Generate uses the next step.
func (s *Script) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	step, err := s.next(r)
	if err != nil {
		return nil, err
	}
	if err := think(ctx, step.Wait); err != nil {
		return nil, err
	}
	if step.Body != nil {
		return nil, &llm.Error{Code: llm.CodeMalformed, Message: "the answer cannot be understood", Provider: scripted, Model: r.Model}
	}
	res, err := step.answer(r, scripted)
	if res == nil {
		return nil, err
	}
	s.received(res.Usage)
	if err == nil && step.Truncate {
		err = &llm.Error{Code: llm.CodeTruncated, Message: "the answer broke off", Provider: scripted, Model: r.Model}
	}
	return speak(ctx, r, res, step.Pause, err)
}

// scripted is the provider of a script.
const scripted = "script"

// speak passes the text to OnText, word by word. If the answer is truncated it
// passes half of it.
func speak(ctx context.Context, r *llm.Request, res *llm.Response, pause time.Duration, broken error) (*llm.Response, error) {
	text := res.Message.Text()
	if broken != nil {
		text = half(text)
	}
	streamed := false
	if r.OnText != nil {
		for _, part := range words(text) {
			r.OnText(part)
			streamed = true
			if err := think(ctx, pause); err != nil {
				return nil, err
			}
		}
	}
	if e, ok := errors.AsType[*llm.Error](broken); ok {
		said := *e
		said.Streamed = streamed
		return nil, &said
	}
	if broken != nil {
		return nil, broken
	}
	return res, nil
}

// half returns the first half of a text, without splitting a character.
func half(text string) string {
	n := len(text) / 2
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// words splits a text for streaming: each part ends after a space.
func words(text string) (out []string) {
	begin := 0
	for i := range len(text) {
		if text[i] == ' ' {
			out, begin = append(out, text[begin:i+1]), i+1
		}
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

func think(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("llmtest: thinking: %w", ctx.Err())
	}
	return nil
}

// Count counts the requests to a scripted model, and the tokens of its answers.
type Count struct {
	Requests int
	Usage    llm.Usage // the sum over all answers with a usage; Known if there were any
}

// script is the common part of [Script] and [Server].
type script struct {
	mu       sync.Mutex
	steps    []Step
	requests []llm.Request
	usage    llm.Usage
	missing  int // requests without a step
	others   int // requests that use no step
}

// next returns the step for a request.
func (s *script) next(r *llm.Request) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := *r
	kept.Messages, kept.Tools, kept.OnText = slices.Clone(r.Messages), slices.Clone(r.Tools), nil
	s.requests = append(s.requests, kept)
	if len(s.steps) == 0 {
		s.missing++
		return Step{}, &llm.Error{
			Code: llm.CodeInvalid, Message: fmt.Sprintf("the script has no step %d", len(s.requests)), Provider: scripted, Model: r.Model,
		}
	}
	step := s.steps[0]
	if !step.Repeat {
		s.steps = s.steps[1:]
	}
	return step, nil
}

// received adds the usage of an answer.
func (s *script) received(u llm.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Known = s.usage.Known || u.Known
	s.usage.Input += u.Input
	s.usage.Output += u.Output
	s.usage.CacheRead += u.CacheRead
	s.usage.CacheWrite += u.CacheWrite
	s.usage.CacheWrite1h += u.CacheWrite1h
	s.usage.Reasoning += u.Reasoning
}

// asked counts a request that uses no step.
func (s *script) asked(u llm.Usage) {
	s.received(u)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others++
}

// Add appends steps.
func (s *script) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests returns the requests so far, in order, without OnText.
func (s *script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns the counts so far. The tokens of an answer count even if the client
// has disconnected.
func (s *script) Count() Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Count{Requests: len(s.requests) + s.others, Usage: s.usage}
}

// Done returns an error if there were more requests than steps, or if a step was
// not used. Repeated steps need not be used.
func (s *script) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.steps)
	for _, step := range s.steps {
		if step.Repeat {
			left--
		}
	}
	switch {
	case s.missing > 0:
		return fmt.Errorf("llmtest: asked %d times more than the script has steps", s.missing)
	case left > 0:
		return fmt.Errorf("llmtest: %d steps of the script were not used", left)
	}
	return nil
}
