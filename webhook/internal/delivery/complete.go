package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

const insertAttempts = `INSERT INTO webhook_attempt (event, endpoint, scope, type, seq, fence, at_us, outcome, status, duration_us, error, response)`

var attemptTypes = []string{
	"BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT",
}

func (r *Result) row() []any {
	return []any{
		r.Event.Number, r.Target.ID, r.Target.Scope, r.Event.Type, r.Seq, r.Fence, database.Micros(r.At), r.Outcome, r.StatusCode, r.Duration.Microseconds(), r.Error, r.Response,
	}
}

// Complete records attempts, and what they say of their endpoints, in the
// transaction that finishes them.
func (d *Sender) Complete(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
	args := make([]any, 0, len(outs)*len(attemptTypes))
	var changed []*Result
	for _, r := range results(outs) {
		r.first, r.stale = false, false
		args = append(args, r.row()...)
		if r.changesEndpoint() {
			changed = append(changed, r)
		}
	}
	if err := d.DB.Insert(ctx, tx, insertAttempts, attemptTypes, args); err != nil {
		return fmt.Errorf("storing attempts: %w", err)
	}
	slices.SortStableFunc(changed, func(a, b *Result) int { return strings.Compare(a.Target.ID, b.Target.ID) }) // one lock order
	for _, r := range changed {
		if err := d.completeEndpoint(ctx, tx, r); err != nil {
			return fmt.Errorf("storing the state of endpoint %s: %w", r.Target.ID, err)
		}
	}
	takeBack(outs)
	return d.recordTx(ctx, tx, results(outs)...)
}

// takeBack drops the pauses of endpoints that were resumed meanwhile.
func takeBack(outs []queue.Outcome) {
	for i := range outs {
		if r, ok := outs[i].Data.(*Result); ok && r.paused && r.stale {
			outs[i].Result = queue.Snooze
		}
	}
}

func results(outs []queue.Outcome) []*Result {
	rs := make([]*Result, 0, len(outs))
	for _, o := range outs {
		if r, ok := o.Data.(*Result); ok {
			rs = append(rs, r)
		}
	}
	return rs
}

// changesEndpoint says whether an attempt tells more than that all is well.
func (r *Result) changesEndpoint() bool {
	return r.Target.Enabled && !r.unsent && !r.Event.Erased() && (!r.ok() || r.Target.Pauses > 0 || r.Target.LastError != "")
}

// completeEndpoint moves an endpoint from the state that the attempt began
// with. Of several attempts that saw the same state one makes the change. One
// that began before the endpoint was changed says nothing of it any more.
func (d *Sender) completeEndpoint(ctx context.Context, tx *database.Tx, r *Result) error {
	now := database.Micros(r.At)
	var statement string
	var args []any
	switch {
	case r.disabled != "":
		statement = `UPDATE webhook_endpoint SET enabled = false, revision = revision + 1, last_error = $1, updated_us = $2
			WHERE id = $3 AND enabled AND revision = $4`
		args = []any{r.disabled, now, r.Target.ID, r.Target.Revision}
	case r.paused:
		statement = `UPDATE webhook_endpoint SET pauses = pauses + 1, down_us = CASE WHEN down_us = 0 THEN CAST($1 AS BIGINT) ELSE down_us END,
			last_error = $2 WHERE id = $3 AND pauses = $4 AND revision = $5`
		args = []any{now, r.Error, r.Target.ID, r.Target.Pauses, r.Target.Revision}
	default: // it answers
		statement = `UPDATE webhook_endpoint SET pauses = 0, down_us = 0, last_error = $1 WHERE id = $2 AND pauses = $3 AND revision = $4`
		args = []any{r.Error, r.Target.ID, r.Target.Pauses, r.Target.Revision}
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
func (r *Result) completePaused(ctx context.Context, tx *database.Tx) error {
	const note = `UPDATE webhook_endpoint SET last_error = $1 WHERE id = $2 AND revision = $3`
	res, err := tx.ExecContext(ctx, note, r.Error, r.Target.ID, r.Target.Revision)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	r.stale = n == 0
	return err
}

// OnComplete tells the operator, once the outcomes are durable.
func (d *Sender) OnComplete(outs []queue.Outcome) {
	for _, r := range results(outs) {
		d.count(r)
		switch {
		case !r.first:
		case r.disabled != "":
			d.Observer.disabled()
			d.Log.Error("trunkline.endpoint.disabled", "endpoint", r.Target.ID, "scope", r.Target.Scope, "reason", r.disabled)
		case r.paused && r.Target.Pauses == 0:
			d.Observer.paused()
			d.Log.Warn("trunkline.endpoint.paused", "endpoint", r.Target.ID, "scope", r.Target.Scope, "reason", r.Error)
		case r.Target.Pauses > 0 && !r.paused:
			d.Log.Info("trunkline.endpoint.recovered", "endpoint", r.Target.ID, "scope", r.Target.Scope)
		}
	}
}

// count tells the observer of an attempt, if there was one: a disabled
// endpoint gets none, and none gets what was erased.
func (d *Sender) count(r *Result) {
	if r.Target.Enabled && !r.Event.Erased() {
		d.Observer.attempted(r.label(), r.Duration)
	}
	if r.Outcome != "" {
		d.Observer.finished(r.Outcome, d.Now().Sub(database.Time(r.Event.At)))
	}
}

func (r *Result) label() string {
	switch {
	case r.Outcome != "":
		return r.Outcome
	case r.paused && !r.stale:
		return "paused"
	}
	return "retried"
}

// recordTx hands results to Record.
func (d *Sender) recordTx(ctx context.Context, tx *database.Tx, rs ...*Result) error {
	if d.Record == nil || len(rs) == 0 {
		return nil
	}
	return d.Record(ctx, tx, rs)
}

// recordDisabledTx records that an attempt has disabled its endpoint.
func (r *Result) recordDisabledTx(ctx context.Context, tx *database.Tx) error {
	ctx = audit.As(ctx, audit.Actor{Account: r.Target.Account, Kind: audit.System})
	details := audit.Changed("enabled")
	details["enabled"] = false
	return r.Target.RecordTx(ctx, tx, audit.WebhookUpdate, details)
}
