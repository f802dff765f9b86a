package erasure

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/webhook"
)

// Jobs does the jobs that delete chats and references.
type Jobs struct {
	Bots       *botengine.Service
	DB         *database.DB
	Extractors *store.Service
	Flows      *aiflow.Service
	Memory     *memory.Service
	Messaging  *messaging.Service
	Runs       *runtime.Runtime
	Usage      *usage.Ledger
	Webhooks   *webhook.Dispatcher
}

func erasureOf(j job.Job) (e messaging.Erasure, err error) {
	if err := json.Unmarshal(j.Args, &e); err != nil {
		return e, fmt.Errorf("reading a deletion: %w", err)
	}
	return e, nil
}

// Chat removes a chat that is hidden.
func (s *Jobs) Chat(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	if err := s.Messaging.For(j.Account).Erase(ctx, e); err != nil {
		return err
	}
	s.DB.Erased()
	return nil
}

// Reference removes a reference that is hidden, with all that belongs to it
// in other packages.
func (s *Jobs) Reference(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	for _, erase := range []func() error{
		func() error { return s.Webhooks.For(j.Account).DeleteScope(ctx, view.WebhookScope(e.Reference)) },
		func() error { return s.Bots.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Flows.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Extractors.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Runs.For(j.Account).Erase(ctx, runtime.Erasure{Reference: j.Reference}) },
		func() error { return s.Memory.For(j.Account).Erase(ctx, memory.Erasure{Reference: j.Reference}) },
		func() error { return s.Usage.For(j.Account).Erase(ctx, j.Reference, nil, e.At) },
		func() error { return s.Messaging.For(j.Account).Erase(ctx, e) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	s.DB.Erased()
	return nil
}
