package testkit

import (
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Commits are how many rows each transaction has written, in the order of their
// commits.
type Commits struct {
	mu   sync.Mutex
	rows []int64
}

// ObserveCommits records the transactions of package database on db until the
// test ends.
func ObserveCommits(t testing.TB, db *sqlx.DB) *Commits {
	t.Helper()
	c := &Commits{}
	require.NoError(t, database.Observe(t.Context(), db, func(rows int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rows = append(c.rows, rows)
	}))
	t.Cleanup(func() { _ = database.Observe(t.Context(), db, nil) })
	return c
}

// Take returns what was recorded since the last call.
func (c *Commits) Take() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.rows
	c.rows = nil
	return rows
}

// RequireBounded requires that the transactions since the last call have
// written at least all rows together, and none of them more than most.
func (c *Commits) RequireBounded(t testing.TB, all, limit int64) {
	t.Helper()
	rows := c.Take()
	require.NotEmpty(t, rows, "no transaction was observed")
	var sum int64
	for _, n := range rows {
		sum += n
	}
	require.GreaterOrEqual(t, sum, all, "the work was not done")
	require.LessOrEqual(t, slices.Max(rows), limit, "rows of one transaction; there were %d transactions", len(rows))
}
