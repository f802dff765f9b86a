package testkit

import (
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

// lockOrder is the order in which all transactions lock rows. Package queue describes
// its part of it, and package runtime that of runs. queue_subscriber, which is last,
// is not here: an open circuit writes again to partitions that it has locked before,
// which looks like another lock.
var lockOrder = [][]string{
	{"queue_node"},
	{"messaging_chat"},
	{"flow_input", "flow_run"}, // of one chat, in which one node at a time takes turns
	{"queue_partition"},
}

// CheckLocks fails the test if a transaction on db locks rows against the order in
// which all do.
func CheckLocks(t testing.TB, db *sqlx.DB) {
	t.Helper()
	var mu sync.Mutex
	violations := map[string]bool{}
	t.Cleanup(func() { // after the transactions
		mu.Lock()
		defer mu.Unlock()
		for v := range violations {
			t.Error(v)
		}
	})
	require.NoError(t, database.CheckLocks(t.Context(), db, database.LockOrder{Tables: lockOrder, Report: func(v string) {
		mu.Lock()
		defer mu.Unlock()
		violations[v] = true
	}}))
}
