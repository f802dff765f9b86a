package webhook

import (
	"context"
	"fmt"
	"time"
)

// QueueStats says how many deliveries are not finished, and how long the
// oldest that could be tried has waited.
func (d *Dispatcher) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := d.queue.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("webhook: %w", err)
	}
	return st.Unrouted + st.Ready + st.Held + st.Waiting, st.Oldest, nil
}
