package usage

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Metered returns a model that writes every call down as c, with the model of
// the request and, where c reserves nothing, its [WorstCase]. A call for which
// a budget has no room is not made: the error is an [*Exceeded]. Retries go
// around it, llm.Retry(ledger.Metered(…)), so that each attempt counts.
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
	usualOutput = 1024   // tokens that a request without MaxTokens may answer
	imageTokens = 20_000 // that an image may be, at least
	overhead    = 64     // tokens around a message, a tool or a schema
)

// WorstCase is the most that a request can take, in tokens: no token is shorter
// than a byte. A file counts as one for every 8 bytes, and an image as 20,000
// at least, which is more than providers say.
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
