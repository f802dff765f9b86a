package botengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Name is that of this engine among those of a [runtime.Runtime].
func (s *Service) Name() string { return flow.EngineBot }

// Listeners are the published bots of a line.
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
		t, err := s.trigger(ctx, r.ID, r.Version)
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

// KeepTx lets nobody delete a bot until tx ends.
func (s *Service) KeepTx(ctx context.Context, tx *sqlx.Tx, id string) error {
	var is []bool
	if err := s.db.SelectTx(ctx, tx, &is, `SELECT true FROM botengine_bot WHERE id = $1 AND NOT removed`+s.db.Dialect.ForShare(), id); err != nil {
		return fmt.Errorf("keeping a bot: %w", err)
	}
	if len(is) == 0 {
		return runtime.ErrNotFound
	}
	return nil
}

// Source is a version of a bot, or its draft for version 0.
func (s *Service) Source(ctx context.Context, account, bot string, version int64) (runtime.Source, error) {
	const draft = `SELECT draft FROM botengine_bot WHERE id = $1 AND account = $2 AND NOT removed`
	const frozen = `SELECT v.document FROM botengine_version v JOIN botengine_bot b ON b.id = v.bot
		WHERE v.bot = $1 AND b.account = $2 AND v.version = $3 AND NOT b.removed`
	text, args := draft, []any{bot, account}
	if version != 0 {
		text, args = frozen, append(args, version)
	}
	var raw string
	err := s.db.GetContext(ctx, &raw, text, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return runtime.Source{}, ErrNotFound
	}
	if err != nil {
		return runtime.Source{}, fmt.Errorf("reading a bot's flow: %w", err)
	}
	doc, problems := flow.Decode([]byte(raw))
	if doc == nil {
		return runtime.Source{}, &Refused{problems}
	}
	return runtime.Source{Document: doc}, nil
}

// trigger is that of a published version.
func (s *Service) trigger(ctx context.Context, bot string, version int64) (*flow.Trigger, error) {
	return s.triggers.Of(ctx, bot, version, func(ctx context.Context) (*flow.Program, error) {
		var raw string
		err := s.db.GetContext(ctx, &raw, `SELECT document FROM botengine_version WHERE bot = $1 AND version = $2`, bot, version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("reading a bot's flow: %w", err)
		}
		var program *flow.Program
		doc, problems := flow.Decode([]byte(raw))
		if doc != nil {
			program, problems = s.runs.Types().Compile(doc, &flow.Environment{Engine: flow.EngineBot, Published: true})
		}
		if program == nil {
			// It was published with other rules, say. It must not stop others
			// from answering.
			s.opts.Logger.ErrorContext(ctx, "a published bot does not compile any more", "bot", bot, "version", version, "problems", len(problems))
		}
		return program, nil
	})
}
