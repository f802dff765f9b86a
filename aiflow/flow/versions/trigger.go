package versions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
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

// Listeners returns the published flows that a query selects, in its order. The
// columns are id, name, enabled, version, priority (NULL: that of the trigger)
// and created_us. trigger returns the trigger of a version; a flow for which it
// returns Options.NotFound was deleted meanwhile, and is left out.
func (s *Store) Listeners(ctx context.Context, trigger func(ctx context.Context, id string, version int64) (*flow.Trigger, error),
	query string, args ...any,
) ([]runtime.Listener, error) {
	var rows []struct {
		ID, Name string
		Enabled  bool
		Version  int64
		Priority sql.NullInt64
		Created  int64 `db:"created_us"`
	}
	if err := s.db.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("listing the %ss of a reference: %w", s.opts.Noun, err)
	}
	var out []runtime.Listener
	for _, r := range rows {
		t, err := trigger(ctx, r.ID, r.Version)
		if errors.Is(err, s.opts.NotFound) {
			continue
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

// ScheduleTx has runs of a flow begin when its published trigger says so, on the
// references that are returned by references: it is not called for a version
// without a schedule. A nil one says that no run of the flow begins.
func (s *Store) ScheduleTx(ctx context.Context, tx *database.Tx, r Row, references func() ([]int64, error)) error {
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
