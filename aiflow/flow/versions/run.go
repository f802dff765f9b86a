package versions

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Runs lists the runs of an account's flows that a filter chooses, the newest
// first. The bounds of the page are in f. If f.Owner does not exist it returns
// Options.NotFound.
func (s *Store) Runs(ctx context.Context, account string, f runtime.Filter) (page.Page[runtime.Run], error) {
	if _, _, err := (page.List{Limit: f.Limit, Cursor: f.Cursor}).Parse(); err != nil {
		return page.Page[runtime.Run]{}, err
	}
	if f.Owner != "" {
		if err := s.check(ctx, account, f.Owner); err != nil {
			return page.Page[runtime.Run]{}, err
		}
	}
	f.Engine = s.opts.Engine
	return s.opts.Runs.For(account).Runs(ctx, f)
}

// Detail returns a run of one of an account's flows with its steps, or
// Options.NotFound.
func (s *Store) Detail(ctx context.Context, account, run string) (runtime.Detail, error) {
	if uuid.Validate(run) != nil {
		return runtime.Detail{}, s.opts.NotFound
	}
	d, err := s.opts.Runs.For(account).Detail(ctx, run)
	if errors.Is(err, runtime.ErrNotFound) || err == nil && d.Engine != s.opts.Engine {
		return runtime.Detail{}, s.opts.NotFound
	}
	return d, err
}
