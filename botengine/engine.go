package botengine

import (
	"context"
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Name is that of this engine among those of a [runtime.Runtime].
func (s *Service) Name() string { return flow.EngineBot }

// Listeners returns the published bots of a reference.
func (s *Service) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	trigger := func(ctx context.Context, id string, version int64) (*flow.Trigger, error) {
		return s.trigger(ctx, account, id, version)
	}
	return s.store.Listeners(ctx, trigger, `SELECT id, name, active AS enabled, version, NULL AS priority, created_us FROM botengine_bot
		WHERE reference = $1 AND account = $2 AND version > 0 AND NOT removed ORDER BY number`, reference, account)
}

// ListeningQuery returns a SELECT of those of the given references, at least
// one, on which a published bot is switched on. It has one column, reference,
// and its parameters are numbered from first. Use it in a statement of the
// transaction that stores messages: then a bot sees every message that is stored
// after it was published.
func (s *Service) ListeningQuery(first int, references []int64) (text string, args []any) {
	in, args := s.db.Dialect.InNumbers("reference", first, references)
	return `SELECT DISTINCT reference FROM botengine_bot WHERE version > 0 AND active AND ` + in, args
}

// KeepTx keeps a bot from being deleted until tx ends.
func (s *Service) KeepTx(ctx context.Context, tx Tx, id string) error {
	return s.store.KeepTx(ctx, tx, id)
}

// Source is a version of a bot, or its draft for version 0.
func (s *Service) Source(ctx context.Context, account, bot string, version int64) (runtime.Source, error) {
	raw, err := s.document(ctx, account, bot, version)
	if err != nil {
		return runtime.Source{}, err
	}
	doc, err := s.store.Read(raw)
	return runtime.Source{Document: doc}, err
}

// document is the flow of a version of a bot, or its draft for version 0.
func (s *Service) document(ctx context.Context, account, bot string, version int64) (json.RawMessage, error) {
	if version == 0 {
		r, err := s.For(account).row(ctx, s.db, bot, "")
		return json.RawMessage(r.Draft), err
	}
	v, err := s.store.Version(ctx, s.db, account, bot, version)
	return v.Document, err
}

// trigger is that of a published version.
func (s *Service) trigger(ctx context.Context, account, bot string, version int64) (*flow.Trigger, error) {
	return s.store.Trigger(ctx, bot, version, func(ctx context.Context) (*flow.Program, []flow.Problem, error) {
		raw, err := s.document(ctx, account, bot, version)
		if err != nil {
			return nil, nil, err
		}
		program, _, problems := s.store.Compile(raw, &flow.Environment{Engine: flow.EngineBot, Published: true})
		return program, problems, nil
	})
}
