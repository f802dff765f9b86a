package delivery

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Test makes one attempt to deliver an event, whatever the state and the filter
// of its endpoint. It is not retried.
func (d *Sender) Test(ctx context.Context, t *Target, ev *Event) (*Result, error) {
	r := &Result{Job: &Job{Target: t, Event: ev}}
	limited, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	if err := d.Formats.Write(limited, r.Job); err != nil {
		return nil, err
	}
	limited, attempt := d.begin(limited, r.Job, 1)
	r.answer = d.attempt(limited, r.Job)
	if r.Outcome = Failed; r.ok() {
		r.Outcome = Delivered
	}
	r.end(attempt)
	return r, nil
}

// RecordTestTx stores the attempt of a test.
func (d *Sender) RecordTestTx(ctx context.Context, tx *database.Tx, r *Result) error {
	if err := d.DB.Insert(ctx, tx, insertAttempts, attemptTypes, r.row()); err != nil {
		return err
	}
	return d.recordTx(ctx, tx, r)
}
