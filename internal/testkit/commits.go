package testkit

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

// recordTimeout bounds the wait for the record of a commit.
const recordTimeout = 10 * time.Second

// Commits records how many rows each transaction has written, in the order of
// commits.
type Commits struct {
	mu      sync.Mutex
	rows    []int64
	changed chan struct{} // receives a token when rows were added
}

// ObserveCommits records the transactions of package database on db until the
// test ends.
func ObserveCommits(t testing.TB, db *sqlx.DB) *Commits {
	t.Helper()
	c := &Commits{changed: make(chan struct{}, 1)}
	require.NoError(t, database.Observe(t.Context(), db, func(rows int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rows = append(c.rows, rows)
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(func() { _ = database.Observe(t.Context(), db, nil) })
	return c
}

// Take returns the records since the last call.
func (c *Commits) Take() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.rows
	c.rows = nil
	return rows
}

// RequireBounded requires that the transactions since the last call have together
// written at least all rows, and none of them more than limit. It waits for the
// last record, since others may see a commit before it is recorded.
func (c *Commits) RequireBounded(t testing.TB, all, limit int64) {
	t.Helper()
	rows := c.Take()
	late := time.After(recordTimeout)
	for sum(rows) < all {
		select {
		case <-c.changed:
			rows = append(rows, c.Take()...)
		case <-late:
			require.Fail(t, "the work was not done", "%d of %d rows in %d transactions", sum(rows), all, len(rows))
		}
	}
	require.NotEmpty(t, rows, "no transaction was observed")
	require.LessOrEqual(t, slices.Max(rows), limit, "rows of one transaction; there were %d transactions", len(rows))
}

func sum(rows []int64) (n int64) {
	for _, r := range rows {
		n += r
	}
	return n
}
