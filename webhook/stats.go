package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// QueueStats says how many deliveries are not finished, and how long the
// oldest that could be tried has waited.
func (d *Dispatcher) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := d.queue.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("webhook: %w", err)
	}
	return st.Unrouted + st.Ready + st.Leased + st.Waiting, st.Oldest, nil
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
	number, _ := parseSubject(subject, 0)
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
