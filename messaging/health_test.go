package messaging_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// TestWriteHealth_OneStatement writes when many references were seen with one statement,
// and leaves the times of others and of the other kind.
func TestWriteHealth_OneStatement(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setup(t, seen, config{idle: true})
		var refs []provider.ReferenceID
		for i := range 20 {
			refs = append(refs, f.reference(t, testKind))
			f.receive(t, refs[i], text("m1", "111", "hello"))
		}
		before := asked.Texts()
		require.NoError(t, f.svc.WriteHealth(t.Context()))
		updates := 0
		for text, n := range asked.Texts() {
			if n > before[text] && strings.Contains(text, "UPDATE messaging_reference") {
				updates += n - before[text]
			}
		}
		if db.DriverName() == "postgres" {
			require.Equal(t, 1, updates)
		} else {
			require.LessOrEqual(t, updates, 2, "SQLite has texts for few lengths of a list")
		}
		at := lastInbound(t, f, refs)
		f.clock.Advance(-time.Hour) // it was wrong, and what was written is not in the future for an hour
		f.receive(t, refs[0], text("m2", "111", "hello"))
		require.NoError(t, f.svc.WriteHealth(t.Context()))
		require.Equal(t, at[0].Add(-time.Hour), lastInbound(t, f, refs)[0])
		require.Equal(t, at[1:], lastInbound(t, f, refs)[1:])

		f.svc.NoteAck(refs[1], f.clock.Now())
		require.NoError(t, f.svc.WriteHealth(t.Context()))
		s, err := f.acc.Sessions().Status(t.Context(), refs[1])
		require.NoError(t, err)
		require.Equal(t, f.clock.Now().Unix(), s.Health.LastAckAt.Unix())
		require.Equal(t, at[1], lastInbound(t, f, refs)[1])
	})
}

// lastInbound returns when references have received something.
func lastInbound(t *testing.T, f *fixture, refs []provider.ReferenceID) (at []time.Time) {
	t.Helper()
	for _, ref := range refs {
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.NotNil(t, s.Health.LastInboundAt)
		at = append(at, s.Health.LastInboundAt.Time)
	}
	return at
}

// TestWriteHealth_LocksInOrder lets a node write when references were seen while another
// has one of them: it has locked those before, and none after, as every node does.
func TestWriteHealth_LocksInOrder(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.PostgresURL(t)), config{idle: true})
	var refs []provider.ReferenceID
	for i := range 9 {
		refs = append(refs, f.reference(t, testKind))
		f.receive(t, refs[i], text("m1", "111", "hello"))
	}
	other, err := f.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), fmt.Sprintf(`SELECT 1 FROM messaging_reference WHERE id = %d FOR UPDATE`, refs[4]))
	require.NoError(t, err)
	written := make(chan error, 1)
	go func() { written <- f.svc.WriteHealth(t.Context()) }()
	awaitLock(t, f.db)
	var free []provider.ReferenceID
	require.NoError(t, f.db.Select(&free, `SELECT id FROM messaging_reference ORDER BY id FOR UPDATE SKIP LOCKED`))
	require.Equal(t, refs[5:], free)
	require.NoError(t, other.Rollback())
	require.NoError(t, <-written)
}

// awaitLock waits until a connection to the database waits for a lock.
func awaitLock(t *testing.T, db *sqlx.DB) {
	t.Helper()
	require.Eventually(t, func() bool {
		return count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, time.Minute, time.Millisecond)
}
