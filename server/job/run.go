package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	workers       = 2               // concurrent jobs of a node
	lease         = 9 * time.Second // after which another node continues the job of a killed one
	maxWait       = 5 * time.Minute // between two attempts
	kept          = 30 * 24 * time.Hour
	pruneInterval = time.Hour
	pruneRows     = 200
)

// Run runs jobs until ctx ends. Any node may then continue unfinished jobs.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	clockstep.Watch(ctx, s.db, s.opts.Logger)
	for range workers {
		g.Go(func() error { return s.work(ctx) })
	}
	g.Go(func() error { return s.prune(ctx) })
	return g.Wait()
}

func (s *Service) work(ctx context.Context) error {
	due := s.db.Due(ctx, topic, func(first int, ahead time.Duration) (string, []any) { return s.free(`SELECT 1`, first, ahead) })
	for {
		for {
			more, err := s.Step(ctx)
			if err != nil && ctx.Err() == nil {
				s.opts.Logger.WarnContext(ctx, "a job failed and is tried again", slog.Any("error", err))
			}
			if !more || err != nil || ctx.Err() != nil {
				break
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-due:
		}
	}
}

// Step runs one due job, and reports whether there was one. [Service.Run] calls it
// regularly.
func (s *Service) Step(ctx context.Context) (bool, error) {
	row, err := s.take(ctx)
	if err != nil || row == nil {
		return false, err
	}
	failed := s.leased(ctx, *row)
	if ctx.Err() != nil {
		return true, errors.Join(failed, s.put(context.WithoutCancel(ctx), row.Number, 0, row.Tries)) // release it for another node
	}
	if failed == nil {
		return true, s.finish(ctx, row.Number)
	}
	wait := min(time.Second<<min(row.Tries, 10), maxWait)
	return true, errors.Join(fmt.Errorf("%s of account %s: %w", row.Kind, row.Account, failed), s.put(ctx, row.Number, wait, row.Tries+1))
}

// free returns a statement that selects from the free jobs.
func (s *Service) free(selection string, first int, ahead time.Duration) (text string, args []any) {
	kinds := slices.Sorted(maps.Keys(s.opts.Kinds))
	values := make([]any, len(kinds))
	for i, kind := range kinds {
		values[i] = kind
	}
	in, args := s.db.Dialect.In("kind", first+1, values)
	return fmt.Sprintf(`%s FROM job_job WHERE ended_us = 0 AND due_us <= $%d AND %s`, selection, first, in),
		slices.Concat([]any{database.Micros(s.opts.Now().Add(ahead))}, args)
}

// take leases a free job; nil: there is none.
func (s *Service) take(ctx context.Context) (*jobRow, error) {
	now := s.opts.Now()
	text, args := s.free(`SELECT `+columns, 1, 0)
	row := &jobRow{}
	err := s.db.GetContext(ctx, row, text+` ORDER BY tries, number LIMIT 1`, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for a job: %w", err)
	}
	var n int64
	err = s.db.InTx(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE job_job SET due_us = $1 WHERE number = $2 AND ended_us = 0 AND due_us <= $3`,
			database.Micros(now.Add(lease)), row.Number, database.Micros(now))
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("taking a job: %w", err)
	}
	if n == 0 { // another node was faster
		return s.take(ctx)
	}
	return row, nil
}

// leased runs a job and renews its lease.
func (s *Service) leased(ctx context.Context, row jobRow) error {
	renew := func(ctx context.Context) error { return s.put(ctx, row.Number, lease, row.Tries) }
	return periodic.Leased(ctx, lease, renew, func(ctx context.Context) error { return s.opts.Kinds[row.Kind](ctx, row.view()) })
}

// put delays a job for all nodes.
func (s *Service) put(ctx context.Context, number int64, wait time.Duration, tries int64) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE job_job SET due_us = $1, tries = $2 WHERE number = $3 AND ended_us = 0`,
			database.Micros(s.opts.Now().Add(wait)), tries, number)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping a job: %w", err)
	}
	return nil
}

// finish ends a job. It deletes the arguments, which may name people.
func (s *Service) finish(ctx context.Context, number int64) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE job_job SET ended_us = $1, args = '' WHERE number = $2 AND ended_us = 0`,
			database.Micros(s.opts.Now()), number)
		return err
	})
	if err != nil {
		return fmt.Errorf("ending a job: %w", err)
	}
	return nil
}

// prune deletes old ended jobs until ctx ends.
func (s *Service) prune(ctx context.Context) error {
	return periodic.Run(ctx, pruneInterval, nil, s.opts.Logger, "deleting old jobs", s.Prune)
}

// Prune deletes jobs that ended more than 30 days ago. [Service.Run] calls it
// regularly.
func (s *Service) Prune(ctx context.Context) error {
	return s.delete(ctx, `ended_us > 0 AND ended_us < $1`, database.Micros(s.opts.Now().Add(-kept)))
}

// Forget deletes all jobs of an account.
func (s *Service) Forget(ctx context.Context, account string) error {
	return s.delete(ctx, `account = $1`, account)
}

// delete deletes the jobs that match a condition, in small steps.
func (s *Service) delete(ctx context.Context, where string, arg any) error {
	err := s.db.InSteps(ctx, `DELETE FROM job_job WHERE number IN (SELECT number FROM job_job WHERE `+where+` LIMIT $2)`, arg, pruneRows)
	if err != nil {
		return fmt.Errorf("deleting jobs: %w", err)
	}
	return nil
}
