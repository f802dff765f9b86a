package usagecounter_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
)

const today = 20_000 // days since 1970

// at returns a time of today.
func at(sinceMidnight time.Duration) time.Time {
	return time.Unix(today*24*60*60, 0).Add(sinceMidnight)
}

type fixture struct {
	*usagecounter.Counter
	db  *database.DB
	now time.Time
}

func setup(t *testing.T, db *sqlx.DB) *fixture {
	t.Helper()
	require.NoError(t, usagecounter.Migrate(t.Context(), db))
	db.MustExec(`CREATE TABLE fruit (id BIGINT PRIMARY KEY, account TEXT NOT NULL, kind TEXT NOT NULL, at_us BIGINT NOT NULL)`)
	handle, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	f := &fixture{db: handle, now: at(12 * time.Hour)}
	f.Counter = f.counter()
	return f
}

func (f *fixture) counter() *usagecounter.Counter {
	return usagecounter.New(f.db, usagecounter.Options{
		Name: "fruit", Rows: `SELECT id, account, kind AS what, at_us FROM fruit WHERE kind <> 'stone'`, Now: func() time.Time { return f.now },
	})
}

func (f *fixture) put(id int, account, kind string, when time.Time) {
	f.db.MustExec(`INSERT INTO fruit (id, account, kind, at_us) VALUES ($1, $2, $3, $4)`, id, account, kind, database.Micros(when))
}

func (f *fixture) is(t *testing.T, account string, since time.Time, want map[string]int64) {
	t.Helper()
	got, err := f.Since(t.Context(), account, since)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestCounter counts rows once, whether they have been counted yet, are too
// young for it, or are gone.
func TestCounter(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db)
		f.is(t, "ana", at(0), map[string]int64{})
		f.put(1, "ana", "apple", at(-time.Second)) // yesterday
		f.put(2, "ana", "apple", at(time.Hour))
		f.put(3, "ana", "pear", at(2*time.Hour))
		f.put(4, "ben", "pear", at(2*time.Hour))
		f.put(5, "ana", "stone", at(2*time.Hour))
		f.put(6, "ana", "apple", f.now.Add(-time.Second)) // too young
		all := map[string]int64{"apple": 2, "pear": 1}
		f.is(t, "ana", at(0), all)
		for range 2 {
			require.NoError(t, f.Count(t.Context()))
			f.is(t, "ana", at(0), all)
		}
		var counted int
		require.NoError(t, db.GetContext(t.Context(), &counted, `SELECT counted FROM usagecounter_mark`))
		require.Equal(t, 4, counted)
		f.is(t, "ana", at(-time.Hour), map[string]int64{"apple": 3, "pear": 1})
		f.is(t, "ben", at(0), map[string]int64{"pear": 1})

		db.MustExec(`DELETE FROM fruit WHERE id < 5`)
		f.is(t, "ana", at(0), all)
		f.now = at(25 * time.Hour)
		f.put(7, "ana", "apple", at(24*time.Hour))
		require.NoError(t, f.Count(t.Context()))
		f.is(t, "ana", at(0), map[string]int64{"apple": 3, "pear": 1})
		f.is(t, "ana", at(24*time.Hour), map[string]int64{"apple": 1})

		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.ForgetTx(t.Context(), tx, "ana") }))
		f.is(t, "ana", at(0), map[string]int64{})
		f.is(t, "ben", at(0), map[string]int64{"pear": 1})
	})
}

// TestNodes has several nodes count the same rows while they are read.
func TestNodes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db)
		const rows = 25_000 // more than two steps
		db.MustExec(`INSERT INTO fruit (id, account, kind, at_us)
			WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 25000) SELECT id, 'ana', 'apple', CAST($1 AS BIGINT) FROM n`,
			database.Micros(at(time.Hour)))
		g, ctx := errgroup.WithContext(t.Context())
		for range 3 {
			node := f.counter()
			g.Go(func() error { return node.Count(ctx) })
		}
		for range 20 {
			f.is(t, "ana", at(0), map[string]int64{"apple": rows})
		}
		require.NoError(t, g.Wait())
		var n int
		require.NoError(t, db.GetContext(t.Context(), &n, `SELECT n FROM usagecounter_day`))
		require.Equal(t, rows, n)
	})
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)))
	f.put(1, "ana", "apple", at(time.Hour))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	testkit.UntilCommitted(t, f.db.DB, func() bool {
		var n int
		return f.db.GetContext(t.Context(), &n, `SELECT count(*) FROM usagecounter_day`) == nil && n == 1
	})
	stop()
	require.NoError(t, <-done)
}
