package aiflow

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Run finishes deletions that were interrupted, until ctx ends. Without
// Options.Runs it has flows run, too, and returns when the work in hand is
// finished or handed back.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.store.RunClean(ctx, s.Clean) })
	if s.alone {
		g.Go(func() error { return s.opts.Runs.Run(ctx) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("aiflow: %w", err)
	}
	return nil
}

// chatService is the world of runs without chats.
type chatService struct{ s *Service }

func (chatService) Snapshot(context.Context, runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{}, nil
}

func (h chatService) Jump(ctx context.Context, from runtime.Run, to flow.Jump) (runtime.Start, error) {
	start, err := h.s.For(from.Chat.Account).Jump(ctx, from.Owner, to.Flow)
	start.Input = to.Input
	return start, err
}
