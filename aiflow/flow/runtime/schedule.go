package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

const (
	// schedulesChunk is how many begin with one commit.
	schedulesChunk = 100
	// maxMissed is how late a run still begins whose time has passed while no
	// node ran.
	maxMissed = 24 * time.Hour
)

// Scheduled says when runs of a flow begin by themselves.
type Scheduled struct {
	Engine, Owner string
	Version       int64
	// References are the references on which one begins each time; 0 stands for a
	// run without a reference. None: no run begins.
	References []int64
	Times      []flow.Schedule // none: no run begins
}

// ScheduleTx has runs of a flow begin at its times, in place of those at which
// they did, when tx commits. Its runs have no chat, and as input
// {type: "schedule", cron, timezone, at}; at is the time that it was for, in
// RFC 3339. Of the times that pass while no node runs, the last one is made up
// for, unless it was more than a day ago.
func (a *Account) ScheduleTx(ctx context.Context, on Tx, s Scheduled) error {
	tx, err := a.r.db.Join(on)
	if err != nil {
		return err
	}
	times, err := json.Marshal(s.Times)
	if err != nil {
		return fmt.Errorf("writing a schedule: %w", err)
	}
	known, err := a.r.schedules.of(ctx, tx, s)
	if err != nil {
		return err
	}
	next, comes := firstAfter(s.Times, a.r.opts.Now())
	for _, k := range known {
		if comes && slices.Contains(s.References, k.Reference) {
			continue
		}
		if err := a.r.schedules.deleteTx(ctx, tx, k.ID); err != nil {
			return err
		}
	}
	if !comes {
		return nil
	}
	for _, reference := range s.References {
		_, err := tx.ExecContext(ctx, `INSERT INTO flow_schedule (account, engine, owner, version, reference, times, next_us) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (owner, engine, reference) DO UPDATE SET version = excluded.version, times = excluded.times,
			next_us = CASE WHEN flow_schedule.times = excluded.times THEN flow_schedule.next_us ELSE excluded.next_us END`,
			a.id, s.Engine, s.Owner, s.Version, reference, string(times), database.Micros(next.at))
		if err != nil {
			return fmt.Errorf("storing a schedule: %w", err)
		}
	}
	return nil
}

// schedules has runs start at their times.
type schedules struct {
	db    *database.DB
	runs  *runStore
	turns *queue.Queue
	opts  *Options
}

// of reads the schedules of a flow.
func (s *schedules) of(ctx context.Context, tx *database.Tx, of Scheduled) ([]scheduleRow, error) {
	var rows []scheduleRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+scheduleColumns+` FROM flow_schedule WHERE owner = $1 AND engine = $2`, of.Owner, of.Engine); err != nil {
		return nil, fmt.Errorf("reading the schedule of a flow: %w", err)
	}
	return rows, nil
}

// deleteTx deletes a schedule.
func (s *schedules) deleteTx(ctx context.Context, tx *database.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM flow_schedule WHERE id = $1`, id); err != nil {
		return fmt.Errorf("deleting a schedule: %w", err)
	}
	return nil
}

// Unschedule ends what begins by itself on a reference, which is deleted. It works in
// small steps, each durable, and may be called again after an error or a crash.
func (a *Account) Unschedule(ctx context.Context, reference int64) error {
	err := a.r.eraser.inSteps(ctx, `DELETE FROM flow_schedule WHERE id IN (SELECT id FROM flow_schedule WHERE account = $1 AND reference = $2 LIMIT %d)`,
		a.id, reference)
	if err != nil {
		return fmt.Errorf("deleting the schedules of a reference: %w", err)
	}
	return nil
}

// scheduleRow is a schedule as its table has it.
type scheduleRow struct {
	ID        int64  `db:"id"`
	Account   string `db:"account"`
	Engine    string `db:"engine"`
	Owner     string `db:"owner"`
	Version   int64  `db:"version"`
	Reference int64  `db:"reference"`
	Times     string `db:"times"`
	NextUS    int64  `db:"next_us"`
}

const scheduleColumns = `id, account, engine, owner, version, reference, times, next_us`

// occasion is a time at which a run begins, and the schedule that names it.
type occasion struct {
	at   time.Time
	from flow.Schedule
}

func (o occasion) input() map[string]any {
	return map[string]any{"type": "schedule", "cron": o.from.Cron, "timezone": o.from.Timezone, "at": o.at.Format(time.RFC3339)}
}

// firstAfter is the first of the times of some schedules that comes after
// another.
func firstAfter(schedules []flow.Schedule, after time.Time) (first occasion, ok bool) {
	for _, s := range schedules {
		if at, comes := s.Next(after); comes && (!ok || at.Before(first.at)) {
			first, ok = occasion{at, s}, true
		}
	}
	return first, ok
}

// lastUntil is the last of the times of some schedules between two others,
// both included. It looks back further and further: there may be one for each
// minute.
func lastUntil(schedules []flow.Schedule, from, until time.Time) (last occasion, ok bool) {
	for _, back := range []time.Duration{2 * time.Minute, time.Hour, maxMissed} {
		begin := until.Add(-back)
		if begin.Before(from) {
			begin = from
		}
		at := begin.Add(-time.Nanosecond)
		for {
			next, comes := firstAfter(schedules, at)
			if !comes || next.at.After(until) {
				break
			}
			last, ok, at = next, true, next.at
		}
		if ok || begin.Equal(from) {
			break
		}
	}
	return last, ok
}

// beginning is what becomes of a schedule whose time has come.
type beginning struct {
	row   scheduleRow
	start *Start // nil: nothing begins
	l     *loaded
	next  time.Time
	over  bool // it never comes again
}

// watch starts runs at their times until ctx ends.
func (s *schedules) watch(ctx context.Context) error {
	due := s.db.Due(ctx, "", func(first int, ahead time.Duration) (string, []any) {
		return fmt.Sprintf(`SELECT 1 FROM flow_schedule WHERE next_us <= $%d`, first), []any{database.Micros(s.opts.Now().Add(ahead))}
	})
	for {
		more, err := s.beginDue(ctx)
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.WarnContext(ctx, "beginning runs at their times failed", "error", err)
		}
		if more {
			continue
		}
		select {
		case <-due:
		case <-ctx.Done():
			return nil
		}
	}
}

// beginDue begins the runs whose time has come, and says whether there may be
// more. A node that is not the only one to see that moves nothing twice.
func (s *schedules) beginDue(ctx context.Context) (more bool, err error) {
	now := s.opts.Now()
	var due []scheduleRow
	err = s.db.SelectContext(ctx, &due, `SELECT `+scheduleColumns+` FROM flow_schedule WHERE next_us <= $1 ORDER BY next_us LIMIT $2`,
		database.Micros(now), schedulesChunk)
	if err != nil || len(due) == 0 {
		return false, err
	}
	var all []beginning
	for _, row := range due {
		b, err := s.weigh(ctx, row, now)
		if err != nil {
			return false, err
		}
		all = append(all, b)
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error { return s.beginAllTx(context.WithoutCancel(ctx), tx, all) })
	if err != nil {
		return false, err
	}
	s.opts.AfterCommit("schedules")
	return len(due) == schedulesChunk, nil
}

// weigh says what becomes of a schedule whose time has come. A flow that
// cannot be begun is passed over this time.
func (s *schedules) weigh(ctx context.Context, row scheduleRow, now time.Time) (beginning, error) {
	b := beginning{row: row}
	var times []flow.Schedule
	if err := json.Unmarshal([]byte(row.Times), &times); err != nil {
		return b, fmt.Errorf("reading a schedule: %w", err)
	}
	next, comes := firstAfter(times, now)
	b.next, b.over = next.at, !comes
	last, came := lastUntil(times, database.Time(row.NextUS), now)
	if !came || now.Sub(last.at) > maxMissed {
		return b, nil
	}
	start, l, err := s.scheduled(ctx, row)
	if database.Failed(err) || ctx.Err() != nil {
		return b, fmt.Errorf("reading flow %s: %w", row.Owner, err)
	}
	if err != nil {
		s.opts.Logger.ErrorContext(ctx, "a flow cannot begin at its time", "flow", row.Owner, "version", row.Version, "error", err)
		return b, nil
	}
	start.Input = last.input()
	b.start, b.l = &start, l
	return b, nil
}

// scheduled is how a run of a schedule begins.
func (s *schedules) scheduled(ctx context.Context, row scheduleRow) (Start, *loaded, error) {
	engine := s.runs.engines.named(row.Engine)
	if engine == nil {
		return Start{}, nil, errors.New("nobody serves its engine here")
	}
	src, err := engine.Source(ctx, row.Account, row.Owner, row.Version)
	if err != nil {
		return Start{}, nil, err
	}
	l, err := s.runs.programs.compile(src)
	return Start{
		Engine: row.Engine, Owner: row.Owner, Version: row.Version, Source: src, Chat: Chat{Account: row.Account, Reference: row.Reference},
	}, l, err
}

// beginAllTx moves schedules on and begins their runs. All the flows are locked
// first, as a publisher or a deletion locks it before its schedule.
func (s *schedules) beginAllTx(ctx context.Context, tx *database.Tx, all []beginning) error {
	gone := map[string]bool{}
	for _, b := range all {
		err := s.runs.engines.keepTx(ctx, tx, b.row.Engine, b.row.Owner)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		gone[b.row.Owner] = err != nil
	}
	for _, b := range all {
		b.over = b.over || gone[b.row.Owner]
		if err := s.beginTx(ctx, tx, b); err != nil {
			return err
		}
	}
	return nil
}

// beginTx moves a schedule on and begins its run, unless another node has.
func (s *schedules) beginTx(ctx context.Context, tx *database.Tx, b beginning) error {
	if b.over {
		return s.deleteTx(ctx, tx, b.row.ID)
	}
	res, err := tx.ExecContext(ctx, `UPDATE flow_schedule SET next_us = $1 WHERE id = $2 AND next_us = $3 AND version = $4`,
		database.Micros(b.next), b.row.ID, b.row.NextUS, b.row.Version)
	if err != nil {
		return fmt.Errorf("moving a schedule on: %w", err)
	}
	if one(res) != nil || b.start == nil {
		return nil // another node was faster, or it was published again
	}
	_, _, err = s.runs.startTx(ctx, tx, *b.start, b.l)
	return err
}
