package usage

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Metered returns a model that records every call as c, with the model of the
// request and, if c reserves nothing, its [WorstCase]. A call that would exceed a
// budget is not made: the error is an [*Exceeded]. Retries must be outside,
// llm.Retry(ledger.Metered(…)), so that each attempt counts.
func (l *Ledger) Metered(m llm.Model, c Call) llm.Model { return &metered{l, m, c} }

type metered struct {
	l *Ledger
	m llm.Model
	c Call
}

func (m *metered) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	c := m.c
	c.Model = r.Model
	if c.Reserve == (llm.Usage{}) {
		c.Reserve = WorstCase(r)
	}
	e, err := m.l.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	answer, failed := m.m.Generate(ctx, r)
	if _, err := m.l.Complete(ctx, e, answer, failed); err != nil && failed == nil {
		return nil, err
	}
	return answer, failed
}

const (
	usualOutput = 1024   // maximum output tokens of a request without MaxTokens
	imageTokens = 20_000 // minimum for an image
	overhead    = 64     // tokens per message, tool or schema
)

// WorstCase returns the maximum usage of a request: no token is shorter than a
// byte. A file counts as a token for every 8 bytes, and an image as at least
// 20,000, which is more than providers count.
func WorstCase(r *llm.Request) llm.Usage {
	n := overhead + len(r.System) + len(r.Schema)
	for _, t := range r.Tools {
		n += overhead + len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for i := range r.Messages {
		n += messageBytes(&r.Messages[i])
	}
	out := r.MaxTokens
	if out <= 0 {
		out = usualOutput
	}
	return llm.Usage{Known: true, Input: int64(n), Output: int64(out)}
}

func messageBytes(m *llm.Message) int {
	n := overhead + len(m.Raw)
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Name) + len(p.Data)/8
		if strings.HasPrefix(p.MediaType, "image/") {
			n += imageTokens
		}
	}
	for _, c := range m.Calls {
		n += overhead + len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	for _, res := range m.Results {
		n += overhead + len(res.CallID) + len(res.Content)
	}
	return n
}
