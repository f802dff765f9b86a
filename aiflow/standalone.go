package aiflow

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
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

// newRuntime returns a runtime of the service's own.
func (s *Service) newRuntime(ctx context.Context, db *sqlx.DB) (*runtime.Runtime, error) {
	opts := &runtime.Options{Types: s.opts.Types, Logger: s.opts.Logger, Now: s.opts.Now}
	if s.opts.Models != nil {
		callers, err := s.modelCallers(ctx, db)
		if err != nil {
			return nil, err
		}
		opts.Callers = callers
	}
	return runtime.New(ctx, db, chatService{s}, opts)
}

// modelCallers answer the calls of the nodes that ask a model.
func (s *Service) modelCallers(ctx context.Context, db *sqlx.DB) (map[flow.CallKind]runtime.Caller, error) {
	models, err := llm.NewModels(s.opts.Models)
	if err != nil {
		return nil, fmt.Errorf("Options.Models: %w", err)
	}
	ledger, err := usage.New(ctx, db, &usage.Options{Logger: s.opts.Logger, Now: s.opts.Now})
	if err != nil {
		return nil, err
	}
	agents, err := agent.New(ctx, db, models, ledger, &agent.Options{Logger: s.opts.Logger, Now: s.opts.Now})
	if err != nil {
		return nil, err
	}
	assistants, err := assistant.New(models, &assistant.Options{Ledger: ledger, Logger: s.opts.Logger, Now: s.opts.Now})
	if err != nil {
		return nil, err
	}
	return map[flow.CallKind]runtime.Caller{
		flow.CallAgent: agents.Act, flow.CallAssistant: assistants.Answer, flow.CallExtract: assistants.Extract,
	}, nil
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
