package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
)

// Test sends ev to an endpoint now, whatever the endpoint's state and filter,
// and returns what it answered. The attempt is in the log, with sequence 0,
// and is not retried.
func (a *Account) Test(ctx context.Context, id string, ev Event) (Attempt, error) {
	d := a.d
	row, err := a.row(ctx, d.db, `id = $2`, []any{id}, "")
	if err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	t, err := d.target(row)
	if err != nil {
		return Attempt{}, err
	}
	ev.Account, ev.Scope = row.Account, row.Scope
	if ev, err = d.validate(ev); err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	r := &result{job: &job{ep: t, ev: ev.loaded()}}
	limited, cancel := context.WithTimeout(ctx, d.opts.Timeout)
	defer cancel()
	if err := d.write(limited, r.job); err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	limited, attempt := d.begin(limited, r.job, 1)
	r.answer = d.attempt(limited, r.job)
	if r.outcome = failed; r.ok() {
		r.outcome = delivered
	}
	r.end(attempt)
	err = d.db.Write(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		insert := insertEvents + " VALUES " + d.db.Dialect.Values(1, len(eventTypes), 1) + " RETURNING number"
		if err := tx.GetContext(ctx, &r.ev.Number, insert, ev.row()...); err != nil {
			return err
		}
		if err := d.db.Insert(ctx, tx, insertAttempts, attemptTypes, r.row()); err != nil {
			return err
		}
		if err := d.passToSink(ctx, tx, r); err != nil {
			return err
		}
		return row.recordTx(ctx, tx, audit.WebhookTest, nil)
	})
	if err != nil {
		return Attempt{}, fmt.Errorf("storing a test of endpoint %s: %w", id, err)
	}
	d.notifySink(r)
	return r.Attempt, nil
}
