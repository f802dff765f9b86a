package versions

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// Trigger is that of a published version, ready to be asked. program makes the
// version ready to run when it is asked for the first time, or says why it
// cannot run.
func (s *Store) Trigger(ctx context.Context, id string, version int64, program func(context.Context) (*flow.Program, []flow.Problem, error)) (*flow.Trigger, error) {
	return s.triggers.Of(ctx, id, version, func(ctx context.Context) (*flow.Program, error) {
		p, problems, err := program(ctx)
		if err != nil {
			return nil, err
		}
		if p == nil && len(problems) > 0 {
			// It was published with other rules, say. It must not stop others
			// from answering.
			s.opts.Logger.ErrorContext(ctx, "a published version does not compile any more",
				"engine", s.opts.Engine, "flow", id, "version", version, "problems", len(problems))
		}
		return p, nil
	})
}

// ScheduleTx has runs of a flow begin when its published trigger says so, on the
// references that are returned by references: it is not called for a version
// without a schedule. A nil one says that no run of the flow begins.
func (s *Store) ScheduleTx(ctx context.Context, tx *sqlx.Tx, r Row, references func() ([]int64, error)) error {
	scheduled := runtime.Scheduled{Engine: s.opts.Engine, Owner: r.ID, Version: r.Version}
	if r.Version > 0 && references != nil {
		v, err := s.Version(ctx, tx, r.Account, r.ID, r.Version)
		if err != nil {
			return err
		}
		if scheduled.Times = s.opts.Runs.Types().Schedules(v.Document); len(scheduled.Times) > 0 {
			if scheduled.References, err = references(); err != nil {
				return err
			}
		}
	}
	return s.opts.Runs.For(r.Account).ScheduleTx(ctx, tx, scheduled)
}
