package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Sink takes part in the transaction that records attempts. AttemptsTx must
// only write rows: an error undoes the transaction, and the attempts are made
// again. It may run more than once before a commit.
type Sink interface {
	AttemptsTx(ctx context.Context, tx *sqlx.Tx, as []Attempted) error
	// Committed is called after the commit. It must not block.
	Committed()
}

// Attempted is an attempt as a [Sink] learns of it.
type Attempted struct {
	Account, Scope string
	// Delivery is as the attempt leaves it, with no attempt but this one.
	Delivery Delivery
	// Number counts the attempts of a delivery, from 1: also one that could
	// not be recorded, but none of an endpoint that is down. A replay begins
	// again.
	Number int
}

// passToSink hands attempts to the sink.
func (d *Dispatcher) passToSink(ctx context.Context, tx *sqlx.Tx, rs ...*result) error {
	if d.opts.Sink == nil || len(rs) == 0 {
		return nil
	}
	as := make([]Attempted, len(rs))
	for i, r := range rs {
		as[i] = r.attempted()
	}
	if err := d.opts.Sink.AttemptsTx(ctx, tx, as); err != nil {
		return fmt.Errorf("telling %T: %w", d.opts.Sink, err)
	}
	return nil
}

// notifySink wakes the sink after the commit.
func (d *Dispatcher) notifySink(rs ...*result) {
	if d.opts.Sink != nil && len(rs) > 0 {
		d.opts.Sink.Committed()
	}
}

func (r *result) attempted() Attempted {
	a := Attempted{Account: r.ep.Account, Scope: r.ep.Scope, Number: r.tries + 1, Delivery: Delivery{
		ID: r.ev.deliveryID(r.ep.ID), EndpointID: r.ep.ID, EventID: r.ev.ID, Event: r.ev.Type,
		ChatID: r.ev.ChatID, MessageID: r.ev.MessageID, Sequence: r.seq,
		State: r.outcome, Attempts: []Attempt{r.Attempt}, CreatedAt: r.ev.time(),
	}}
	if r.outcome == "" {
		a.Delivery.State = DeliveryPending
	}
	return a
}
