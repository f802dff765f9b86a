package server

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/messaging"
)

// runUsage is what the language models of a run took.
type runUsage struct {
	Calls             int64     `json:"calls"`
	InputTokens       int64     `json:"inputTokens" doc:"Cached ones among them."`
	CachedInputTokens int64     `json:"cachedInputTokens"`
	OutputTokens      int64     `json:"outputTokens" doc:"Those of reasoning among them."`
	ReasoningTokens   int64     `json:"reasoningTokens"`
	Cost              *microUSD `json:"cost" doc:"In micro-USD, of the calls whose cost is known; null: of none it is."`
	UnpricedCalls     int64     `json:"unpricedCalls"`
}

func viewRunUsage(s usage.Sum) *runUsage {
	v := &runUsage{
		Calls: s.Calls, InputTokens: s.Input, CachedInputTokens: s.Cached, OutputTokens: s.Output, ReasoningTokens: s.Reasoning,
		UnpricedCalls: s.Unpriced,
	}
	if s.Calls == 0 || s.Unpriced < s.Calls {
		cost := microUSD(s.Cost)
		v.Cost = &cost
	}
	return v
}

// withUsage adds to runs what they took.
func (s *Server) withUsage(ctx context.Context, account string, runs ...*RunView) error {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	sums, err := s.Usage.For(account).OfRuns(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading what runs took: %w", err)
	}
	for _, r := range runs {
		r.Usage = viewRunUsage(sums[r.ID])
	}
	return nil
}

// shownRun is a run with what it took, unless there was an error.
func (s *Server) shownRun(ctx context.Context, c call, r runtime.Run, err error) (RunView, error) {
	v := viewRun(r)
	if err == nil {
		err = s.withUsage(ctx, c.Account, &v)
	}
	return v, err
}

// shownRuns is a page of runs with what they took.
func (s *Server) shownRuns(ctx context.Context, c call, runs []runtime.Run, next string, err error) (messaging.Page[RunView], error) {
	p := viewPage(runs, next, viewRun)
	if err != nil {
		return p, inQuery(err)
	}
	views := make([]*RunView, len(p.Items))
	for i := range p.Items {
		views[i] = &p.Items[i]
	}
	return p, s.withUsage(ctx, c.Account, views...)
}
