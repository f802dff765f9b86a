package usage

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/text"
)

// outcome is the outcome of a call.
type outcome struct {
	provider, model string
	usage           llm.Usage
	free            bool   // the provider refused it, which costs nothing
	code            string // of the error; "": none
	duration        time.Duration
}

// turnedDown are the codes of calls that no model has processed.
var turnedDown = map[llm.Code]bool{
	llm.CodeRateLimited: true, llm.CodeTooLong: true, llm.CodeInvalid: true, llm.CodeForbidden: true, llm.CodeNoModel: true,
	llm.CodeUnavailable: true,
}

func outcomeOf(e *Entry, r *llm.Response, failed error, now time.Time) outcome {
	o := outcome{provider: e.call.Provider, model: e.call.Model, duration: max(0, now.Sub(e.began))}
	if r != nil {
		o.usage = tidy(r.Usage)
		o.serve(r.Provider, r.Model)
	}
	if failed == nil {
		return o
	}
	o.code = "error"
	var bad *llm.Error
	switch {
	case errors.As(failed, &bad):
		o.code = truncate(string(bad.Code), 64)
		o.serve(bad.Provider, "")
		if bad.Usage.Known {
			o.usage = tidy(bad.Usage)
		}
		o.free = !o.usage.Known && !bad.Streamed && turnedDown[bad.Code]
	case errors.Is(failed, context.DeadlineExceeded):
		o.code = string(llm.CodeTimeout)
	case errors.Is(failed, context.Canceled):
		o.code = "cancelled"
	}
	return o
}

// serve records the provider and the model that answered, if known.
func (o *outcome) serve(provider, model string) {
	if provider = truncate(provider, 64); provider != "" {
		o.provider = provider
	}
	if model = truncate(model, 200); model != "" {
		o.model = model
	}
}

// truncate returns a text from outside in a form that can be stored.
func truncate(s string, limit int) string {
	return text.Truncate(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), ""), limit)
}

// tidy limits the parts of a usage to their totals.
func tidy(u llm.Usage) llm.Usage {
	within := func(n *int64, limit int64) int64 {
		*n = min(max(*n, 0), limit)
		return limit - *n
	}
	within(&u.Input, maxTokens)
	within(&u.Output, maxTokens)
	left := within(&u.CacheRead, u.Input)
	left = within(&u.CacheWrite, left)
	within(&u.CacheWrite1h, left)
	within(&u.Reasoning, u.Output)
	return u
}
