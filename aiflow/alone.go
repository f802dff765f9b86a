package aiflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Run has flows run until ctx ends and the work in hand is finished or handed
// back. It is for a Service without Options.Runs; that one runs by itself.
func (s *Service) Run(ctx context.Context) error {
	if !s.alone {
		return errors.New("aiflow: Options.Runs is run by whoever made it")
	}
	if err := s.opts.Runs.Run(ctx); err != nil {
		return fmt.Errorf("aiflow: %w", err)
	}
	return nil
}

// host is the world of runs without chats.
type host struct{ s *Service }

func (host) Look(context.Context, runtime.Chat) (runtime.View, error) { return runtime.View{}, nil }

func (h host) Jump(ctx context.Context, from runtime.Run, to flow.Jump) (runtime.Start, error) {
	start, err := h.s.For(from.Chat.Account).Jump(ctx, from.Owner, to.Flow)
	start.Input = to.Input
	return start, err
}

// SendTx is not asked: runs have no chats.
func (host) SendTx(context.Context, *sqlx.Tx, runtime.Run, flow.Send) (string, error) {
	return "", &flow.Error{Code: flow.CodeNoChat, Message: "Here are no chats."}
}

func (host) Committed() {}
