package aiflow

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
func (s *Service) Name() string { return flow.EngineFlow }

// Listeners are the published flows that are bound to a line.
func (s *Service) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	var rows []struct {
		ID, Name string
		Enabled  bool
		Version  int64
		Priority sql.NullInt64
		Created  int64 `db:"created_us"`
	}
	if err := s.db.SelectContext(ctx, &rows, `SELECT f.id, f.name, b.enabled, f.version, b.priority, f.created_us FROM aiflow_binding b
		JOIN aiflow_flow f ON f.id = b.flow WHERE b.reference = $1 AND b.account = $2 AND f.version > 0 AND f.kind = $3 AND NOT f.removed ORDER BY f.number`,
		reference, account, flow.KindFlow); err != nil {
		return nil, fmt.Errorf("listing the flows of a line: %w", err)
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
		l := runtime.Listener{
			Owner: r.ID, Name: r.Name, Version: r.Version, Enabled: r.Enabled, Priority: t.Priority, CreatedAt: database.Time(r.Created), Trigger: t,
		}
		if r.Priority.Valid {
			l.Priority = int(r.Priority.Int64)
		}
		out = append(out, l)
	}
	return out, nil
}

// KeepTx lets nobody delete a flow until tx ends.
func (s *Service) KeepTx(ctx context.Context, tx *sqlx.Tx, id string) error {
	var is []bool
	if err := s.db.SelectTx(ctx, tx, &is, `SELECT true FROM aiflow_flow WHERE id = $1 AND NOT removed`+s.db.Dialect.ForShare(), id); err != nil {
		return fmt.Errorf("keeping a flow: %w", err)
	}
	if len(is) == 0 {
		return runtime.ErrNotFound
	}
	return nil
}

// trigger is that of a published version.
func (s *Service) trigger(ctx context.Context, account, id string, version int64) (*flow.Trigger, error) {
	return s.triggers.Of(ctx, id, version, func(ctx context.Context) (*flow.Program, error) {
		src, err := s.Source(ctx, account, id, version)
		var refused *Refused
		if errors.As(err, &refused) {
			err = nil
		}
		if err != nil || src.Document == nil {
			return nil, err
		}
		program, problems := s.ready(src)
		if program == nil {
			// It was published with other rules, say. It must not stop others
			// from answering.
			s.opts.Logger.ErrorContext(ctx, "a published flow does not compile any more", "flow", id, "version", version, "problems", len(problems))
		}
		return program, nil
	})
}

// ready makes a source that was compiled before ready to run, or says why it
// cannot be.
func (s *Service) ready(src runtime.Source) (*flow.Program, []flow.Problem) {
	env := flow.Environment{Engine: flow.EngineFlow, Published: true, Functions: map[string]*flow.Document{}}
	for _, f := range src.Functions {
		env.Functions[f.Slug] = f
	}
	return s.opts.Types.Compile(src.Document, &env)
}

// Source is a version of a flow with the functions that it was published
// with, or for version 0 its draft with those of today.
func (s *Service) Source(ctx context.Context, account, id string, version int64) (runtime.Source, error) {
	a := s.For(account)
	if version == 0 {
		return a.draftSource(ctx, id)
	}
	v, err := a.Version(ctx, id, version)
	if err != nil {
		return runtime.Source{}, err
	}
	doc, problems := flow.Decode(v.Document)
	if doc == nil {
		return runtime.Source{}, &Refused{problems}
	}
	return source(doc, v.Functions)
}

func (a *Account) draftSource(ctx context.Context, id string) (runtime.Source, error) {
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return runtime.Source{}, err
	}
	env, err := a.environment(ctx, a.s.db, r.Project)
	if err != nil {
		return runtime.Source{}, err
	}
	program, doc, problems := a.s.compile([]byte(r.Draft), env)
	if program == nil {
		return runtime.Source{}, &Refused{problems}
	}
	return source(doc, env.pins(doc, program))
}

func source(doc *flow.Document, pins []Pinned) (runtime.Source, error) {
	src := runtime.Source{Document: doc}
	for _, p := range pins {
		f, problems := flow.Decode(p.Document)
		if f == nil {
			return src, &Refused{problems}
		}
		src.Functions = append(src.Functions, f)
	}
	return src, nil
}
