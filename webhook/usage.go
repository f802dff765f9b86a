package webhook

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/internal/usagecounter"
)

// counter counts deliveries that arrived.
func (d *Dispatcher) counter() *usagecounter.Counter {
	return usagecounter.New(d.db, usagecounter.Options{
		Name: "webhook",
		Rows: `SELECT t.id, e.account, t.outcome AS what, t.at_us FROM webhook_attempt AS t
			CROSS JOIN webhook_event AS e WHERE e.number = t.event AND t.outcome = '` + delivered + `'`,
		Logger: d.opts.Logger, Now: d.opts.Now,
	})
}

// Delivered counts the deliveries of the account that arrived, from the day of
// since on, in UTC. It is cheap to ask for.
func (a *Account) Delivered(ctx context.Context, since time.Time) (int64, error) {
	n, err := a.d.used.Since(ctx, a.id, since)
	return n[delivered], err
}
