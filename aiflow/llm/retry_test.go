package llm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// failing returns a step that fails as a provider does.
func failing(code llm.Code, after time.Duration) llmtest.Step {
	return llmtest.Fail(&llm.Error{Code: code, Message: "no", After: after})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	down := failing(llm.CodeUnavailable, 0)
	tests := map[string]struct {
		steps    []llmtest.Step
		options  *llm.RetryOptions
		deadline time.Duration // 0: none
		asked    int
		least    time.Duration // how long it takes
		limit    time.Duration
		code     llm.Code // "": it answers
	}{
		"succeeds":               {steps: []llmtest.Step{llmtest.Say("yes")}, asked: 1},
		"passes":                 {steps: []llmtest.Step{down, down, llmtest.Say("yes")}, asked: 3, least: 750 * time.Millisecond, limit: 1500 * time.Millisecond},
		"gives up":               {steps: []llmtest.Step{down, down, down}, asked: 3, code: llm.CodeUnavailable, limit: 2 * time.Second},
		"once":                   {steps: []llmtest.Step{down}, options: &llm.RetryOptions{Attempts: -1}, asked: 1, code: llm.CodeUnavailable},
		"no use":                 {steps: []llmtest.Step{failing(llm.CodeForbidden, 0)}, asked: 1, code: llm.CodeForbidden},
		"a wait":                 {steps: []llmtest.Step{failing(llm.CodeRateLimited, 7*time.Second), llmtest.Say("yes")}, asked: 2, least: 7 * time.Second, limit: 7 * time.Second},
		"a wait too long":        {steps: []llmtest.Step{failing(llm.CodeRateLimited, time.Minute)}, asked: 1, code: llm.CodeRateLimited},
		"a wait beyond the end":  {steps: []llmtest.Step{failing(llm.CodeRateLimited, 7*time.Second)}, deadline: 3 * time.Second, asked: 1, code: llm.CodeRateLimited},
		"a pause beyond the end": {steps: []llmtest.Step{down, down}, deadline: 600 * time.Millisecond, asked: 2, code: llm.CodeUnavailable, limit: 500 * time.Millisecond},
		"half an answer":         {steps: []llmtest.Step{{Response: llmtest.Say("half a word").Response, Truncate: true}, llmtest.Say("yes")}, asked: 2, limit: 500 * time.Millisecond},
		"a longest pause":        {steps: []llmtest.Step{down, down, llmtest.Say("yes")}, options: &llm.RetryOptions{Wait: time.Hour, MaxWait: time.Second}, asked: 3, least: time.Second, limit: 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				script, begin := llmtest.NewScript(test.steps...), time.Now()
				res, err := llm.Retry(script, test.options).Generate(ctx, &llm.Request{Model: "m"})
				duration := time.Since(begin)
				require.GreaterOrEqual(t, duration, test.least)
				require.LessOrEqual(t, duration, test.limit)
				require.Equal(t, test.asked, script.Count().Requests)
				require.NoError(t, script.Done())
				if test.code == "" {
					require.NoError(t, err)
					require.Equal(t, "yes", res.Message.Text())
					return
				}
				var e *llm.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, test.code, e.Code)
				require.Nil(t, res)
			})
		})
	}
}

func TestRetryNeverRepeatsWhatWasStreamed(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(llmtest.Step{Response: llmtest.Say("one two three four").Response, Truncate: true}, llmtest.Say("yes"))
	var received string
	_, err := llm.Retry(script, nil).Generate(t.Context(), &llm.Request{OnText: func(part string) { received += part }})
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeTruncated, e.Code)
	require.True(t, e.Streamed)
	require.Equal(t, "one two t", received)
	require.Equal(t, 1, script.Count().Requests)
}

// careless is a model that streams, fails and does not report that it streamed.
type careless struct{ asked int }

func (c *careless) Generate(_ context.Context, r *llm.Request) (*llm.Response, error) {
	c.asked++
	r.OnText("well")
	return nil, &llm.Error{Code: llm.CodeUnavailable, Message: "gone"}
}

func TestRetryWatchesTheStreamItself(t *testing.T) {
	t.Parallel()
	m := &careless{}
	_, err := llm.Retry(m, nil).Generate(t.Context(), &llm.Request{OnText: func(string) {}})
	require.Error(t, err)
	require.Equal(t, 1, m.asked)
}

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		script := llmtest.NewScript(failing(llm.CodeRateLimited, 20*time.Second))
		_, err := llm.Retry(script, nil).Generate(ctx, &llm.Request{})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorAs(t, err, new(*llm.Error))
	})
}
