package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// QueueStats says how many deliveries are not finished, and how long the
// oldest that could be tried has waited.
func (d *Dispatcher) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := d.queue.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("webhook: %w", err)
	}
	return st.Ready + st.Leased + st.Waiting, st.Oldest, nil
}

// Stats is how the deliveries of all accounts fare.
type Stats struct {
	// Endpoints counts them by state; every state is there.
	Endpoints map[State]int64
	// OldestPending is the age of the oldest event that some endpoint should
	// have and does not, whatever keeps it; 0: there is none. What is replayed
	// counts from its first day.
	OldestPending time.Duration
}

// Stats counts what is kept. It reads all endpoints and the head of every partition
// that has work.
func (d *Dispatcher) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Endpoints: map[State]int64{}}
	const count = `SELECT COALESCE(SUM(CASE WHEN enabled AND pauses = 0 THEN 1 END), 0) AS ok,
		COALESCE(SUM(CASE WHEN enabled AND pauses > 0 THEN 1 END), 0) AS paused,
		COALESCE(SUM(CASE WHEN NOT enabled THEN 1 END), 0) AS disabled FROM webhook_endpoint`
	var n struct{ OK, Paused, Disabled int64 }
	if err := d.db.GetContext(ctx, &n, count); err != nil {
		return st, fmt.Errorf("counting endpoints: %w", err)
	}
	st.Endpoints[StateOK], st.Endpoints[StatePaused], st.Endpoints[StateDisabled] = n.OK, n.Paused, n.Disabled
	var err error
	st.OldestPending, err = d.oldestPending(ctx)
	return st, err
}

// oldestPending is the age of the event with the lowest number.
func (d *Dispatcher) oldestPending(ctx context.Context) (time.Duration, error) {
	subject, err := d.queue.First(ctx)
	if err != nil || subject == "" {
		return 0, err
	}
	number, _ := delivery.ParseSubject(subject, 0)
	var at int64
	err = d.db.GetContext(ctx, &at, `SELECT at_us FROM webhook_event WHERE number = $1`, number)
	if errors.Is(err, sql.ErrNoRows) { // done, or erased, meanwhile
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the oldest event: %w", err)
	}
	return max(0, d.now().Sub(database.Time(at))), nil
}

// Fenced counts, since this process began, work whose lease had ended when it
// was done: another process has repeated it.
func (d *Dispatcher) Fenced() int64 { return d.queue.Fenced() }

// counter counts deliveries that arrived.
func (d *Dispatcher) counter() *usagecounter.Counter {
	return usagecounter.New(d.db, usagecounter.Options{
		Name: "webhook",
		Rows: `SELECT t.id, e.account, t.outcome AS what, t.at_us FROM webhook_attempt AS t
			CROSS JOIN webhook_event AS e WHERE e.number = t.event AND t.outcome = '` + DeliveryDelivered + `'`,
		Logger: d.opts.Logger, Now: d.opts.Now,
	})
}

// Delivered counts the deliveries of the account that arrived, from the day of
// since on, in UTC. It is cheap to ask for.
func (a *Account) Delivered(ctx context.Context, since time.Time) (int64, error) {
	n, err := a.d.used.Since(ctx, a.id, since)
	return n[DeliveryDelivered], err
}

// Target is an endpoint that may get deliveries, of whichever account.
type Target struct {
	ID        string `db:"id"`
	URL       string `db:"url"`
	Enabled   bool   `db:"enabled"`
	Paused    bool   `db:"paused"`     // it is probed, because it was down
	LastError string `db:"last_error"` // "" after a success
}

// Targets are the endpoints of all accounts, the oldest first.
func Targets(ctx context.Context, db *sqlx.DB) ([]Target, error) {
	var out []Target
	if err := db.SelectContext(ctx, &out, `SELECT id, url, enabled, pauses > 0 AS paused, last_error FROM webhook_endpoint ORDER BY created_us, id`); err != nil {
		return nil, fmt.Errorf("listing the endpoints: %w", err)
	}
	return out, nil
}
