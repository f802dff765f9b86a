package database

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// A LockOrder says in which order transactions lock the rows of tables, so that they
// never wait for each other in a circle.
type LockOrder struct {
	// Tables are the tables in the order in which they are locked. Those of one
	// element are locked in any order. Other tables are not checked.
	Tables [][]string
	// Report is called with what a transaction does against the order.
	Report func(violation string)
}

// CheckLocks makes the transactions of this package on db report what they do against
// an order. It is for tests. SQLite locks no rows. Those that callers have begun are
// not checked: they write at once what others write at their end.
func CheckLocks(ctx context.Context, db *sqlx.DB, o LockOrder) error {
	d, err := Of(ctx, db)
	if err == nil && d.Dialect == Postgres {
		d.locks.Store(&o)
	}
	return err
}

// locked is what a transaction has locked last, in the order of a [LockOrder].
type locked struct {
	place int
	by    string // the statement
}

// checkLocks notes what a statement locks.
func (tx *Tx) checkLocks(statement string) {
	o := tx.db.locks.Load()
	if o == nil || tx.own == nil {
		return
	}
	var places []int
	for _, table := range lockedTables(statement) {
		place := slices.IndexFunc(o.Tables, func(all []string) bool { return slices.Contains(all, table) })
		if place >= 0 {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return
	}
	waits := !strings.Contains(statement, "SKIP LOCKED")
	if first := slices.Min(places); waits && first < tx.locked.place {
		o.Report(fmt.Sprintf("a transaction locks rows of %s after %s\n\tfirst: %s\n\tthen: %s",
			strings.Join(o.Tables[first], ", "), strings.Join(o.Tables[tx.locked.place], ", "), tx.locked.by, statement))
	}
	if last := slices.Max(places); last >= tx.locked.place {
		tx.locked = locked{last, statement}
	}
}

var (
	writtenTable = regexp.MustCompile(`\b(UPDATE|INSERT INTO|DELETE FROM)\s+([a-z_]+)`)
	lockClause   = regexp.MustCompile(`\bFOR (?:NO KEY )?(?:UPDATE|SHARE)(?: OF (\w+))?`)
	readTable    = regexp.MustCompile(`\b(?:FROM|JOIN)\s+([a-z_]+)(?:\s+(?:AS\s+)?([a-z]\w*))?`)
)

// lockedTables returns the tables of which a statement locks rows that exist: those
// that it writes to, and those that it selects from for an update.
func lockedTables(statement string) (tables []string) {
	conflicts := strings.Contains(statement, "ON CONFLICT") // else an insert locks only what is new
	for _, m := range writtenTable.FindAllStringSubmatch(statement, -1) {
		if conflicts || m[1] != "INSERT INTO" {
			tables = append(tables, m[2])
		}
	}
	for _, at := range lockClause.FindAllStringSubmatchIndex(statement, -1) {
		of := ""
		if at[2] >= 0 {
			of = statement[at[2]:at[3]]
		}
		before := readTable.FindAllStringSubmatch(statement[:at[0]], -1)
		slices.Reverse(before) // the nearest is meant
		for _, m := range before {
			if of == "" || of == m[2] || of == m[1] {
				tables = append(tables, m[1])
				break
			}
		}
	}
	return tables
}
