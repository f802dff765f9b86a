package flows

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

func viewRunUsage(s usage.Sum) *view.RunUsage {
	v := &view.RunUsage{
		Calls: s.Calls, InputTokens: s.Input, CachedInputTokens: s.Cached, OutputTokens: s.Output, ReasoningTokens: s.Reasoning,
		UnpricedCalls: s.Unpriced,
	}
	if s.Calls == 0 || s.Unpriced < s.Calls {
		cost := view.MicroUSD(s.Cost)
		v.Cost = &cost
	}
	return v
}

// withUsage adds to runs what they took.
func (a *Runs) withUsage(ctx context.Context, account string, runs ...*view.RunView) error {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	sums, err := a.Usage.For(account).OfRuns(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading what runs took: %w", err)
	}
	for _, r := range runs {
		r.Usage = viewRunUsage(sums[r.ID])
	}
	return nil
}

// shownRun is a run with what it took, unless there was an error.
func (a *Runs) shownRun(ctx context.Context, c httpapi.Call, r runtime.Run, err error) (view.RunView, error) {
	v := view.NewRunView(r)
	if err == nil {
		err = a.withUsage(ctx, c.Account, &v)
	}
	return v, err
}

// shownRuns is a page of runs with what they took.
func (a *Runs) shownRuns(ctx context.Context, c httpapi.Call, runs botengine.Page[runtime.Run], err error) (view.Page[view.RunView], error) {
	p := view.PageOf(runs, view.NewRunView)
	if err != nil {
		return p, httpapi.InQuery(err)
	}
	views := make([]*view.RunView, len(p.Items))
	for i := range p.Items {
		views[i] = &p.Items[i]
	}
	return p, a.withUsage(ctx, c.Account, views...)
}
