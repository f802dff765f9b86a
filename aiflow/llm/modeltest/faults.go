package modeltest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// refusals checks error responses.
func (s Suite) refusals(t *testing.T) {
	tests := []llm.Error{
		{Code: llm.CodeRateLimited, Status: 429, After: 7 * time.Second},
		{Code: llm.CodeRateLimited, Status: 429, After: 250 * time.Millisecond},
		{Code: llm.CodeUnavailable, Status: 500},
		{Code: llm.CodeUnavailable, Status: 502},
		{Code: llm.CodeUnavailable, Status: 503, After: 2 * time.Second},
		{Code: llm.CodeUnavailable, Status: 529},
		{Code: llm.CodeTimeout, Status: 504},
		{Code: llm.CodeTimeout, Status: 408},
		{Code: llm.CodeForbidden, Status: 401},
		{Code: llm.CodeForbidden, Status: 403},
		{Code: llm.CodeNoModel, Status: 404},
		{Code: llm.CodeTooLong, Status: 400},
		{Code: llm.CodeTooLong, Status: 413},
		{Code: llm.CodeInvalid, Status: 400},
		{Code: llm.CodeInvalid, Status: 422},
	}
	for _, want := range tests {
		t.Run(fmt.Sprintf("%s %d", want.Code, want.Status), func(t *testing.T) {
			eachWay(t, func(t *testing.T, r *llm.Request) {
				want := want
				want.Message = "Hello, I am the secret text of a chat"
				m, script := s.Start(t, 0, llmtest.Fail(&want))
				_, err := m.Generate(t.Context(), r)
				e := failure(t, err, want.Code)
				require.Equal(t, want.Status, e.Status)
				require.Equal(t, want.After, e.After)
				require.False(t, e.Streamed)
				require.False(t, e.Usage.Known)
				require.Equal(t, llmtest.Count{Requests: 1}, script.Count(), "nothing is asked twice")
				if s.HTTP {
					require.Equal(t, s.Provider, e.Provider)
					require.Equal(t, name, e.Model)
					require.NotContains(t, err.Error(), "secret", "what was said is in no text of an error")
				}
			})
		})
	}
}

// arguments checks that arguments which are not JSON are returned unchanged, and
// may be sent back.
func (s Suite) arguments(t *testing.T) {
	for written, read := range map[string]string{
		`{"city": "Li`: `{"city": "Li`, `Lima`: `Lima`, `["Lima"]`: `["Lima"]`, ``: `{}`, `{"city":"Lima"} and more`: `{"city":"Lima"} and more`,
	} {
		eachWay(t, func(t *testing.T, r *llm.Request) {
			m, script := s.Start(t, 0, llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: written}), llmtest.Say("Sorry."))
			r.Tools = []llm.ToolSpec{weather}
			res, err := m.Generate(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, llm.StopTools, res.Stop)
			require.Len(t, res.Message.Calls, 1)
			if s.HTTP {
				require.Equal(t, read, res.Message.Calls[0].Arguments)
			}
			next := *r
			next.Messages = append(r.Messages, res.Message, llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "a", Content: "no JSON", IsError: true}}})
			_, err = m.Generate(t.Context(), &next)
			require.NoError(t, err)
			require.NoError(t, script.Done())
		})
	}
}

// broken checks answers that end early.
func (s Suite) broken(t *testing.T) {
	call := llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: `{"city":"Lima","days":2}`}).Response
	text := llmtest.Say("One word follows another until it ends.").Response
	for what, answer := range map[string]*llm.Response{"text": text, "call": call} {
		t.Run(what, func(t *testing.T) {
			eachWay(t, func(t *testing.T, r *llm.Request) {
				m, script := s.Start(t, 0, llmtest.Step{Response: answer, Truncate: true})
				received := ""
				if r.OnText != nil {
					r.OnText = func(part string) { received += part }
				}
				_, err := m.Generate(t.Context(), r)
				e := failure(t, err, llm.CodeTruncated)
				require.Equal(t, received != "", e.Streamed)
				require.Equal(t, r.OnText != nil && what == "text", e.Streamed)
				require.Equal(t, 1, script.Count().Requests)
				require.True(t, e.Temporary())
			})
		})
	}
	m, _ := s.Start(t, 0, llmtest.Step{Response: text, Err: &llm.Error{Code: llm.CodeUnavailable, Message: "overloaded: secret"}})
	r, received := ask("Well?"), ""
	r.OnText = func(part string) { received += part }
	_, err := m.Generate(t.Context(), r)
	e := failure(t, err, llm.CodeUnavailable)
	require.True(t, e.Streamed)
	require.NotEmpty(t, received)
	if s.HTTP {
		require.NotContains(t, err.Error(), "secret")
	}
}

// sizes checks empty and very long answers.
func (s Suite) sizes(t *testing.T) {
	eachWay(t, func(t *testing.T, r *llm.Request) {
		m, script := s.Start(t, 0, llmtest.Say(""))
		res, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Empty(t, res.Message.Text())
		require.Equal(t, llm.StopDone, res.Stop)
		require.Equal(t, script.Count().Usage, res.Usage)
	})
	eachWay(t, func(t *testing.T, r *llm.Request) {
		long := strings.Repeat("A long answer. ", 50_000)
		m, script := s.Start(t, 0, llmtest.Say(long))
		res, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, long, res.Message.Text())
		require.Equal(t, script.Count().Usage, res.Usage)
	})
	if !s.HTTP {
		return
	}
	huge := append([]byte(`{"error":null,"choices":[{"message":{"content":"`), bytes.Repeat([]byte("x"), 33<<20)...)
	bodies := map[string][]byte{"huge": huge, "none": {}, "word": []byte("OK"), "list": []byte(`[]`), "object": []byte(`{}`), "other": []byte(`{"choices":7,"content":7}`)}
	for what, body := range bodies {
		t.Run(what, func(t *testing.T) {
			eachWay(t, func(t *testing.T, r *llm.Request) {
				m, _ := s.Start(t, 0, llmtest.Step{Body: body})
				_, err := m.Generate(t.Context(), r)
				var e *llm.Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, []llm.Code{llm.CodeMalformed, llm.CodeTruncated}, e.Code)
				require.False(t, e.Streamed)
			})
		})
	}
}

// ends checks calls that the caller cancels, and those that exceed a timeout.
func (s Suite) ends(t *testing.T) {
	eachWay(t, func(t *testing.T, r *llm.Request) {
		m, _ := s.Start(t, 0, llmtest.Step{Response: llmtest.Say("Late.").Response, Wait: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := m.Generate(ctx, r)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorAs(t, err, new(*llm.Error), "it is the caller who ended it")
	})
	if s.Recorded {
		return
	}
	m, _ := s.Start(t, 0, llmtest.Step{Response: llmtest.Say(strings.Repeat("One word follows another. ", 50)).Response, Pause: 50 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := ask("Go on.")
	r.OnText = func(string) { cancel() }
	_, err := m.Generate(ctx, r)
	require.ErrorIs(t, err, context.Canceled, "in the middle of a stream")
	if !s.HTTP {
		return
	}
	eachWay(t, func(t *testing.T, r *llm.Request) {
		m, _ := s.Start(t, 50*time.Millisecond, llmtest.Step{Response: llmtest.Say("Late.").Response, Wait: time.Hour})
		_, err := m.Generate(t.Context(), r)
		_ = failure(t, err, llm.CodeTimeout)
	})
	eachWay(t, func(t *testing.T, r *llm.Request) {
		m, script := s.Start(t, 0)
		closer, ok := script.(interface{ Close() })
		require.True(t, ok)
		closer.Close()
		_, err := m.Generate(t.Context(), r)
		e := failure(t, err, llm.CodeUnavailable)
		require.Zero(t, e.Status)
		require.NotContains(t, err.Error(), "127.0.0.1")
	})
}

// retries checks that only [llm.Retry] retries, and only when that may help.
func (s Suite) retries(t *testing.T) {
	down := llmtest.Fail(&llm.Error{Code: llm.CodeUnavailable, Status: http.StatusServiceUnavailable})
	quick := &llm.RetryOptions{Wait: time.Millisecond}
	m, script := s.Start(t, 0, down, llmtest.Step{Response: llmtest.Say("half of it").Response, Truncate: true}, llmtest.Say("Here."))
	res, err := llm.Retry(m, quick).Generate(t.Context(), ask("Well?"))
	require.NoError(t, err)
	require.Equal(t, "Here.", res.Message.Text())
	require.NoError(t, script.Done())

	m, script = s.Start(t, 0, llmtest.Step{Response: llmtest.Say("half of it is too much").Response, Truncate: true}, llmtest.Say("Here."))
	r := ask("Well?")
	r.OnText = func(string) {}
	_, err = llm.Retry(m, quick).Generate(t.Context(), r)
	_ = failure(t, err, llm.CodeTruncated)
	require.Equal(t, 1, script.Count().Requests, "never after something was streamed")

	m, script = s.Start(t, 0, llmtest.Fail(&llm.Error{Code: llm.CodeRateLimited, Status: http.StatusTooManyRequests, After: time.Hour}), llmtest.Say("Here."))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	begin := time.Now()
	_, err = llm.Retry(m, quick).Generate(ctx, ask("Well?"))
	e := failure(t, err, llm.CodeRateLimited)
	require.Equal(t, time.Hour, e.After)
	require.Equal(t, 1, script.Count().Requests)
	require.Less(t, time.Since(begin), soon, "a wait beyond the deadline fails at once")
}
