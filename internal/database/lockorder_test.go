package database_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestCheckLocks(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		for _, table := range []string{"lock_a", "lock_b", "lock_c"} {
			_, err := d.ExecContext(t.Context(), `CREATE TABLE `+table+` (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)`)
			require.NoError(t, err)
		}
		var found []string
		require.NoError(t, database.CheckLocks(t.Context(), db, database.LockOrder{
			Tables: [][]string{{"lock_a"}, {"lock_b"}}, Report: func(v string) { found = append(found, v) },
		}))
		lock := ""
		if d.Dialect == database.Postgres {
			lock = " FOR UPDATE"
		}
		const a, b, c = `UPDATE lock_a SET n = 1 WHERE id = 1`, `DELETE FROM lock_b WHERE id = 1`, `UPDATE lock_c SET n = 1`
		cases := map[string]struct {
			statements []string
			wrong      bool
		}{
			"in order":                         {[]string{a, a, b, c, b}, false},
			"against it":                       {[]string{b, a}, true},
			"after others":                     {[]string{a, b, c, a}, true},
			"new rows lock nothing":            {[]string{b, `INSERT INTO lock_a (id, n) VALUES (1, 1)`}, false},
			"rows that may be there do":        {[]string{b, `INSERT INTO lock_a (id, n) VALUES (2, 1) ON CONFLICT (id) DO UPDATE SET n = 2`}, true},
			"reading locks nothing":            {[]string{b, `SELECT n FROM lock_a`}, false},
			"reading to write does":            {[]string{b, `SELECT x.n FROM lock_a x WHERE n > 0` + lock}, true},
			"only what is named, does":         {[]string{b, `SELECT y.n FROM lock_a x JOIN lock_c y ON y.id = x.id` + lockOf(lock, "y")}, false},
			"likewise of another table":        {[]string{b, `SELECT y.n FROM lock_a x JOIN lock_c y ON y.id = x.id` + lockOf(lock, "x")}, true},
			"what is locked is not waited for": {[]string{b, `SELECT n FROM lock_a` + skipping(lock)}, false},
		}
		for name, c := range cases {
			found = nil
			require.NoError(t, d.InTx(t.Context(), func(tx *database.Tx) error {
				for _, s := range c.statements {
					if _, err := tx.ExecContext(t.Context(), s); err != nil {
						return err
					}
				}
				return nil
			}))
			if c.wrong && d.Dialect == database.Postgres {
				require.Len(t, found, 1, name)
				require.Contains(t, found[0], "locks rows of lock_a after lock_b", name)
				continue
			}
			require.Empty(t, found, name)
		}
	})
}

func lockOf(lock, table string) string {
	if lock == "" {
		return ""
	}
	return lock + " OF " + table
}

func skipping(lock string) string {
	if lock == "" {
		return ""
	}
	return lock + " SKIP LOCKED"
}
