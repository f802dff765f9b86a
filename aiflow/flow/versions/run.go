package versions

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Runs lists the runs of an account's flows that a filter chooses, the newest
// first. The bounds of the page are in f.
func (s *Store) Runs(ctx context.Context, account string, f runtime.Filter) (Page[runtime.Run], error) {
	f.Engine = s.opts.Engine
	p, err := s.opts.Runs.For(account).Runs(ctx, f)
	return Page[runtime.Run](p), err
}

// Detail returns a run of one of an account's flows with its steps, or
// Options.NotFound.
func (s *Store) Detail(ctx context.Context, account, run string) (runtime.Detail, error) {
	d, err := s.opts.Runs.For(account).Detail(ctx, run)
	if errors.Is(err, runtime.ErrNotFound) || err == nil && d.Engine != s.opts.Engine {
		return runtime.Detail{}, s.opts.NotFound
	}
	return d, err
}
