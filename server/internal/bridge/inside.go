package bridge

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/webhook"
)

// ReferenceScope finds the references that things belong to.
type ReferenceScope struct {
	Bots       *botengine.Service
	Extractors *store.Service
	Runs       *runtime.Runtime
	Webhooks   *webhook.Dispatcher
}

// Inside reports whether something belongs to a reference that the caller
// reaches. An empty id names nothing, and passes. What does not exist belongs to
// no reference.
func (s *ReferenceScope) Inside(ctx context.Context, c httpapi.Call, what, id string) (bool, error) {
	if id == "" {
		return true, nil
	}
	reference, err := s.referenceOf(ctx, c, what, id)
	switch {
	case errors.Is(err, webhook.ErrNotFound), errors.Is(err, botengine.ErrNotFound), errors.Is(err, store.ErrNotFound), errors.Is(err, runtime.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return c.Reaches(reference), nil
}

// referenceOf returns the reference that something belongs to; 0: none.
func (s *ReferenceScope) referenceOf(ctx context.Context, c httpapi.Call, what, id string) (int64, error) {
	switch what {
	case "botId", "bot":
		b, err := s.Bots.For(c.Account).Bots().Get(ctx, id)
		return b.Reference, err
	case "runId":
		r, err := s.Runs.For(c.Account).Run(ctx, id)
		return r.Chat.Reference, err
	case "extractorId":
		e, err := s.Extractors.For(c.Account).Extractor(ctx, id)
		return e.Scope.Reference, err
	case "endpointId", "endpoint":
		ep, err := s.Webhooks.For(c.Account).Endpoint(ctx, id)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(ep.Scope, 10, 64)
	case "flow":
		return 0, nil // flows belong to the account
	}
	return 0, fmt.Errorf("the reference of %s is unknown", what)
}
