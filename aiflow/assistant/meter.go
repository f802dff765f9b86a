package assistant

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// call is one call of a flow, with the usage of its models so far.
type call struct {
	s        *Service
	req      runtime.Request
	in       flow.ModelRequest
	project  string
	feature  string // feature in the ledger
	duration flow.ModelUsage
	nano     int64
	priced   bool // all calls so far have a known cost; nano is their sum
}

// model returns a metered model, which records each attempt, and the provider's
// name of it.
func (c *call) model(ref string) (llm.Model, string, error) {
	m, name, err := c.s.models.Find(ref)
	if err != nil {
		return nil, "", err
	}
	provider, _, _ := strings.Cut(ref, "/")
	chat := c.req.Run.Chat
	entry := usage.Call{
		Account: chat.Account, Reference: chat.Reference, ChatID: chat.ID, Feature: c.feature, Project: c.project,
		Flow: c.req.Run.Owner, Run: c.req.Run.ID, Provider: provider, Model: name,
	}
	return llm.Retry(&meter{c: c, model: m, call: entry}, c.s.opts.Retry), name, nil
}

// usage returns the usage of the calls so far; nil if there were none.
func (c *call) usage() *flow.ModelUsage {
	if c.duration.Calls == 0 {
		return nil
	}
	u := c.duration
	if c.priced {
		u.Cost = &c.nano
	}
	return &u
}

// meter records calls and adds up their usage.
type meter struct {
	c     *call
	model llm.Model
	call  usage.Call
}

func (m *meter) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	ledger := m.c.s.opts.Ledger
	if ledger == nil {
		res, err := m.model.Generate(ctx, r)
		m.add(res, usage.Cost{})
		return res, err
	}
	entry := m.call
	entry.Reserve = usage.WorstCase(r)
	e, err := ledger.Begin(ctx, entry)
	if err != nil {
		return nil, err
	}
	res, failed := m.model.Generate(ctx, r)
	cost, err := ledger.Complete(ctx, e, res, failed)
	if err != nil && failed == nil {
		failed = err
	}
	m.add(res, cost)
	return res, failed
}

func (m *meter) add(res *llm.Response, cost usage.Cost) {
	c := m.c
	c.duration.Calls++
	c.duration.Model = m.call.Provider + "/" + m.call.Model
	if res != nil {
		c.duration.InputTokens += res.Usage.Input
		c.duration.OutputTokens += res.Usage.Output
		if res.Model != "" {
			c.duration.Model = m.call.Provider + "/" + res.Model
		}
	}
	c.priced = (c.priced || c.duration.Calls == 1) && cost.Known
	c.nano += cost.Nano
}
