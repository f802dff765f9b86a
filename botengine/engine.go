package botengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Name is that of this engine among those of a [runtime.Runtime].
func (s *Service) Name() string { return flow.EngineBot }

// Listeners are the published bots of a reference.
func (s *Service) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	var rows []struct {
		ID, Name string
		Active   bool
		Version  int64
		Created  int64 `db:"created_us"`
	}
	if err := s.db.SelectContext(ctx, &rows, `SELECT id, name, active, version, created_us FROM botengine_bot
		WHERE reference = $1 AND account = $2 AND version > 0 AND NOT removed ORDER BY number`, reference, account); err != nil {
		return nil, fmt.Errorf("listing the bots of a line: %w", err)
	}
	var out []runtime.Listener
	for _, r := range rows {
		t, err := s.trigger(ctx, account, r.ID, r.Version)
		if errors.Is(err, ErrNotFound) {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		out = append(out, runtime.Listener{
			Owner: r.ID, Name: r.Name, Version: r.Version, Enabled: r.Active, Priority: t.Priority, CreatedAt: database.Time(r.Created), Trigger: t,
		})
	}
	return out, nil
}

// KeepTx keeps a bot from being deleted until tx ends.
func (s *Service) KeepTx(ctx context.Context, tx *sqlx.Tx, id string) error {
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
