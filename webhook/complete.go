package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

const insertAttempts = `INSERT INTO webhook_attempt (event, endpoint, scope, seq, fence, at_us, outcome, status, duration_us, error, response)`

var attemptTypes = []string{
	"BIGINT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT",
}

func (r *result) row() []any {
	return []any{
		r.ev.Number, r.ep.ID, r.ep.Scope, r.seq, r.fence, database.Micros(r.At), r.outcome, r.StatusCode, r.Duration.Microseconds(), r.Error, r.Response,
	}
}

// complete records attempts, and what they say of their endpoints, in the
// transaction that finishes them.
func (d *Dispatcher) complete(ctx context.Context, tx *sqlx.Tx, outs []queue.Outcome) error {
	args := make([]any, 0, len(outs)*len(attemptTypes))
	var changed []*result
	for _, r := range results(outs) {
		r.first, r.stale = false, false
		args = append(args, r.row()...)
		if r.changesEndpoint() {
			changed = append(changed, r)
		}
	}
	if err := d.db.Insert(ctx, tx, insertAttempts, attemptTypes, args); err != nil {
		return fmt.Errorf("storing attempts: %w", err)
	}
	slices.SortStableFunc(changed, func(a, b *result) int { return strings.Compare(a.ep.ID, b.ep.ID) }) // one lock order
	for _, r := range changed {
		if err := d.completeEndpoint(ctx, tx, r); err != nil {
			return fmt.Errorf("storing the state of endpoint %s: %w", r.ep.ID, err)
		}
	}
	takeBack(outs)
	return d.passToSink(ctx, tx, results(outs)...)
}

// takeBack drops the pauses of endpoints that were resumed meanwhile.
func takeBack(outs []queue.Outcome) {
	for i := range outs {
		if r, ok := outs[i].Data.(*result); ok && r.paused && r.stale {
			outs[i].Result = queue.Snooze
		}
	}
}

func results(outs []queue.Outcome) []*result {
	rs := make([]*result, 0, len(outs))
	for _, o := range outs {
		if r, ok := o.Data.(*result); ok {
			rs = append(rs, r)
		}
	}
	return rs
}

// changesEndpoint says whether an attempt tells more than that all is well.
func (r *result) changesEndpoint() bool {
	return r.ep.Enabled && !r.unsent && !r.ev.erased() && (!r.ok() || r.ep.Pauses > 0 || r.ep.LastError != "")
}

// completeEndpoint moves an endpoint from the state that the attempt began
// with. Of several attempts that saw the same state one makes the change. One
// that began before the endpoint was changed says nothing of it any more.
func (d *Dispatcher) completeEndpoint(ctx context.Context, tx *sqlx.Tx, r *result) error {
	now := database.Micros(r.At)
	var statement string
	var args []any
	switch {
	case r.disabled != "":
		statement = `UPDATE webhook_endpoint SET enabled = false, revision = revision + 1, last_error = $1, updated_us = $2
			WHERE id = $3 AND enabled AND revision = $4`
		args = []any{r.disabled, now, r.ep.ID, r.ep.Revision}
	case r.paused:
		statement = `UPDATE webhook_endpoint SET pauses = pauses + 1, down_us = CASE WHEN down_us = 0 THEN CAST($1 AS BIGINT) ELSE down_us END,
			last_error = $2 WHERE id = $3 AND pauses = $4 AND revision = $5`
		args = []any{now, r.Error, r.ep.ID, r.ep.Pauses, r.ep.Revision}
	default: // it answers
		statement = `UPDATE webhook_endpoint SET pauses = 0, down_us = 0, last_error = $1 WHERE id = $2 AND pauses = $3 AND revision = $4`
		args = []any{r.Error, r.ep.ID, r.ep.Pauses, r.ep.Revision}
	}
	res, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	r.first = n > 0
	if err == nil && r.first && r.disabled != "" {
		return r.recordDisabledTx(ctx, tx)
	}
	if err != nil || r.first || !r.paused {
		return err
	}
	return r.completePaused(ctx, tx)
}

// completePaused is for a pause that is not the first. The update locks the row,
// so that the endpoint cannot be resumed before the pause is written.
func (r *result) completePaused(ctx context.Context, tx *sqlx.Tx) error {
	const note = `UPDATE webhook_endpoint SET last_error = $1 WHERE id = $2 AND revision = $3`
	res, err := tx.ExecContext(ctx, note, r.Error, r.ep.ID, r.ep.Revision)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	r.stale = n == 0
	return err
}

// completed tells the operator, once the outcomes are durable.
func (d *Dispatcher) completed(outs []queue.Outcome) {
	rs := results(outs)
	d.notifySink(rs...)
	for _, r := range rs {
		d.count(r)
		switch {
		case !r.first:
		case r.disabled != "":
			d.opts.Observer.disabled()
			d.opts.Logger.Error("trunkline.endpoint.disabled", "endpoint", r.ep.ID, "scope", r.ep.Scope, "reason", r.disabled)
		case r.paused && r.ep.Pauses == 0:
			d.opts.Observer.paused()
			d.opts.Logger.Warn("trunkline.endpoint.paused", "endpoint", r.ep.ID, "scope", r.ep.Scope, "reason", r.Error)
		case r.ep.Pauses > 0 && !r.paused:
			d.opts.Logger.Info("trunkline.endpoint.recovered", "endpoint", r.ep.ID, "scope", r.ep.Scope)
		}
	}
}

// count tells the observer of an attempt, if there was one: a disabled
// endpoint gets none, and none gets what was erased.
func (d *Dispatcher) count(r *result) {
	if r.ep.Enabled && !r.ev.erased() {
		d.opts.Observer.attempted(r.label(), r.Duration)
	}
	if r.outcome != "" {
		d.opts.Observer.finished(r.outcome, d.now().Sub(database.Time(r.ev.At)))
	}
}

func (r *result) label() string {
	switch {
	case r.outcome != "":
		return r.outcome
	case r.paused && !r.stale:
		return "paused"
	}
	return "retried"
}
