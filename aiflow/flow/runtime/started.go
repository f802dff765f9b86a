package runtime

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
)

// startedRun is what the counter of runs counts.
const startedRun = "run"

// newCounter returns the counter of runs. A run that another run began is a part of
// that one.
func newCounter(db *database.DB, opts *Options) *usagecounter.Counter {
	return usagecounter.New(db, usagecounter.Options{
		Name:   "flow",
		Rows:   `SELECT seq AS id, account, '` + startedRun + `' AS what, started_us AS at_us FROM flow_run WHERE parent = ''`,
		Logger: opts.Logger, Now: opts.Now,
	})
}

// Started counts the runs that an account has begun from the day of since on, in UTC,
// also those that were deleted later. It is cheap, however many there are.
func (r *Runtime) Started(ctx context.Context, q database.Reader, account string, since time.Time) (n int64, err error) {
	counts, err := r.started.SinceIn(ctx, q, account, since)
	return counts[startedRun], err
}
