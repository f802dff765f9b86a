package database_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

var errTest = errors.New("test")

// setup gives db a table x of numbers.
func setup(t *testing.T, db *sqlx.DB) *database.DB {
	t.Helper()
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE x (n BIGINT PRIMARY KEY)`)
	return d
}

func insert(ctx context.Context, n int) func(*database.Tx) error {
	return func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO x (n) VALUES ($1)`, n)
		return err
	}
}

func numbers(t *testing.T, d *database.DB) []int {
	t.Helper()
	out := []int{}
	require.NoError(t, d.Select(&out, `SELECT n FROM x ORDER BY n`))
	return out
}

func TestInTx(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ctx := t.Context()
		require.NoError(t, d.InTx(ctx, insert(ctx, 1)))
		require.ErrorIs(t, d.InTx(ctx, func(tx *database.Tx) error {
			require.NoError(t, insert(ctx, 2)(tx))
			return errTest
		}), errTest)
		require.Panics(t, func() {
			_ = d.InTx(ctx, func(tx *database.Tx) error {
				require.NoError(t, insert(ctx, 3)(tx))
				panic("test")
			})
		})
		require.True(t, database.IsUnique(d.InTx(ctx, insert(ctx, 1))))
		require.False(t, database.IsUnique(errTest))
		require.NoError(t, d.InTx(ctx, insert(ctx, 4)), "the gate is free again")
		require.Equal(t, []int{1, 4}, numbers(t, d))
	})
}

// TestInTxWriters has many transactions that read before they write.
func TestInTxWriters(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`INSERT INTO x (n) VALUES (0)`)
		const writers, each = 8, 20
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					if err := d.InTx(t.Context(), func(tx *database.Tx) error {
						var n int
						q := `SELECT n FROM x`
						if d.Dialect == database.Postgres {
							q += ` FOR UPDATE`
						}
						if err := tx.GetContext(t.Context(), &n, q); err != nil {
							return err
						}
						_, err := tx.ExecContext(t.Context(), `UPDATE x SET n = $1`, n+1)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, []int{writers * each}, numbers(t, d))
	})
}

func TestInTxCancelled(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, d.InTx(ctx, insert(t.Context(), 1)), context.Canceled)
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := d.InTx(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, slow)
			return err
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, numbers(t, d))
	})
}

// slow is a statement that takes minutes on both dialects.
const slow = `INSERT INTO x (n) WITH RECURSIVE r (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM r WHERE n < 2000000000)
	SELECT count(*) FROM r`

// TestInTxRace has two transactions that lock each other's row.
func TestInTxRace(t *testing.T) {
	t.Parallel()
	d := setupURL(t, testkit.PostgresURL(t))
	d.MustExec(`INSERT INTO x (n) VALUES (1), (2)`)
	var met sync.WaitGroup
	met.Add(2)
	var runs atomic.Int32
	update := func(first, second int) error {
		var once sync.Once
		return d.InTx(t.Context(), func(tx *database.Tx) error {
			runs.Add(1)
			if _, err := tx.ExecContext(t.Context(), `UPDATE x SET n = n WHERE n = $1`, first); err != nil {
				return err
			}
			once.Do(func() { met.Done(); met.Wait() })
			_, err := tx.ExecContext(t.Context(), `UPDATE x SET n = n WHERE n = $1`, second)
			return err
		})
	}
	other := make(chan error)
	go func() { other <- update(2, 1) }()
	require.NoError(t, update(1, 2))
	require.NoError(t, <-other)
	require.Greater(t, runs.Load(), int32(2), "one was run again")
}

func setupURL(t *testing.T, url string) *database.DB {
	t.Helper()
	db := testkit.Open(t, url)
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE x (n BIGINT PRIMARY KEY)`)
	return d
}

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ query, says string }{
		"no foreign keys": {"?_pragma=busy_timeout(5000)", "_pragma=foreign_keys(1)"},
		"no timeout":      {"?_pragma=foreign_keys(1)", "_pragma=busy_timeout(5000)"},
		"right":           {"?_pragma=foreign_keys(1)&_pragma=busy_timeout(1)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqlx.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "x.db")+c.query)
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			_, err = database.Of(t.Context(), db)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
	t.Run("nil", func(t *testing.T) {
		t.Parallel()
		for _, db := range []*sqlx.DB{nil, {}} {
			_, err := database.Of(t.Context(), db)
			require.ErrorContains(t, err, "the *sqlx.DB is nil")
		}
	})
	t.Run("other driver", func(t *testing.T) {
		t.Parallel()
		_, err := database.Of(t.Context(), sqlx.NewDb(&sql.DB{}, "mysql"))
		require.ErrorContains(t, err, `unsupported driver "mysql"`)
	})
}

func TestMicros(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.FixedZone("", 3600))
	require.True(t, at.Equal(database.Time(database.Micros(at))))
	require.True(t, database.Time(database.Micros(time.Time{})).IsZero())
}

func TestValues(t *testing.T) {
	t.Parallel()
	require.Equal(t, "($1,$2),($3,$4)", database.Postgres.Values(2, 2, 1))
	require.Equal(t, "(CAST($3 AS BIGINT),CAST($4 AS TEXT))", database.Postgres.Values(1, 2, 3, "BIGINT", "TEXT"))
}

// TestOf_Closed keeps nothing of a database that is closed, once another is opened.
func TestOf_Closed(t *testing.T) {
	t.Parallel()
	type key struct{}
	open := func() *sqlx.DB { return testkit.Open(t, testkit.SQLiteURL(t)) }
	kept := func(db *sqlx.DB) weak.Pointer[[64]byte] {
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		return weak.Make(d.Value(key{}, func() any { return new([64]byte) }).(*[64]byte))
	}
	closed, other := open(), open()
	first, second := kept(closed), kept(other)
	require.NoError(t, closed.Close())
	kept(open())
	runtime.GC()
	require.Nil(t, first.Value())
	require.NotNil(t, second.Value(), "it is open")
}
