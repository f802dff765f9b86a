package aiflow

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Name is that of this engine among those of a [runtime.Runtime].
func (s *Service) Name() string { return flow.EngineFlow }

// Listeners returns the published flows that are bound to a reference.
func (s *Service) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	trigger := func(ctx context.Context, id string, version int64) (*flow.Trigger, error) {
		return s.trigger(ctx, account, id, version)
	}
	return s.store.Listeners(ctx, trigger, `SELECT f.id, f.name, b.enabled, f.version, b.priority, f.created_us FROM aiflow_binding b
		JOIN aiflow_flow f ON f.id = b.flow WHERE b.reference = $1 AND b.account = $2 AND f.version > 0 AND f.kind = $3 AND NOT f.removed ORDER BY f.number`,
		reference, account, flow.KindFlow)
}

// KeepTx keeps a flow from being deleted until tx ends.
func (s *Service) KeepTx(ctx context.Context, tx Tx, id string) error {
	return s.store.KeepTx(ctx, tx, id)
}

// trigger is that of a published version.
func (s *Service) trigger(ctx context.Context, account, id string, version int64) (*flow.Trigger, error) {
	return s.store.Trigger(ctx, id, version, func(ctx context.Context) (*flow.Program, []flow.Problem, error) {
		src, err := s.Source(ctx, account, id, version)
		if _, ok := errors.AsType[*Refused](err); ok {
			err = nil
		}
		if err != nil || src.Document == nil {
			return nil, nil, err
		}
		program, problems := s.opts.Types.Compile(src.Document, published(src))
		return program, problems, nil
	})
}

// published is what a source that was compiled before may refer to.
func published(src runtime.Source) *flow.Environment {
	env := flow.Environment{Engine: flow.EngineFlow, Published: true, Functions: map[string]*flow.Document{}}
	for _, f := range src.Functions {
		env.Functions[f.Slug] = f
	}
	return &env
}

// Source is a version of a flow with the functions that it was published
// with, or for version 0 its draft with those of today.
func (s *Service) Source(ctx context.Context, account, id string, version int64) (runtime.Source, error) {
	a := s.For(account)
	if version == 0 {
		return a.draftSource(ctx, id)
	}
	v, err := a.version(ctx, s.db, id, version)
	if err != nil {
		return runtime.Source{}, err
	}
	doc, err := s.store.Read(v.Document)
	if err != nil {
		return runtime.Source{}, err
	}
	return s.source(doc, v.Functions)
}

func (a scope) draftSource(ctx context.Context, id string) (runtime.Source, error) {
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
	return a.s.source(doc, env.pins(doc, program))
}

func (s *Service) source(doc *flow.Document, pins []Pinned) (runtime.Source, error) {
	src := runtime.Source{Document: doc}
	for _, p := range pins {
		f, err := s.store.Read(p.Document)
		if err != nil {
			return src, err
		}
		src.Functions = append(src.Functions, f)
	}
	return src, nil
}
