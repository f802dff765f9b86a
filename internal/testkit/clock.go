package testkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Times that a database keeps are in columns of this ending. Durations are, too, but are
// less than firstTime.
const (
	timeSuffix = "_us"
	firstTime  = 1_000_000_000_000_000 // 2001
	lastTime   = 4_000_000_000_000_000 // 2096
)

// PostgresClock gives a database a clock that can be set while servers are at work. It
// stands in for the function that all statements ask, in sessions that begin later. set
// moves it by a step: forward, or back when it is negative.
func PostgresClock(t testing.TB, url string) (set func(step time.Duration)) {
	t.Helper()
	db := Open(t, url)
	var name string
	require.NoError(t, db.GetContext(t.Context(), &name, `SELECT current_database()`))
	for _, text := range []string{
		`CREATE SCHEMA clock`,
		`CREATE TABLE clock.set_by (by INTERVAL NOT NULL)`,
		`INSERT INTO clock.set_by VALUES ('0')`,
		`CREATE FUNCTION clock.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS
			'SELECT pg_catalog.statement_timestamp() + by FROM clock.set_by'`,
		`ALTER DATABASE ` + name + ` SET search_path = public, clock, pg_catalog`,
	} {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	return func(step time.Duration) {
		_, err := db.ExecContext(t.Context(), `UPDATE clock.set_by SET by = by + $1 * INTERVAL '1 microsecond'`, step.Microseconds())
		require.NoError(t, err)
	}
}

// notes are times by which a process recognizes what it has written itself, see
// database.Starts: no clock that is set changes them.
var notes = []string{"flow_effect.started_us", "messaging_outbound.started_us", "messaging_remote_call.started_us"}

// StepClock sets the clock of a database, on which a server may be at work, by a step:
// forward, or back when it is negative. All times that were written become by as much
// earlier or later, which is the same to the server that reads them, except notes.
func StepClock(ctx context.Context, db *sqlx.DB, step time.Duration) error {
	d, err := database.Of(ctx, db)
	if err != nil {
		return err
	}
	tables, err := timeColumns(ctx, d)
	if err != nil {
		return err
	}
	for {
		err := d.InTx(ctx, func(tx *database.Tx) error { return setBack(ctx, tx, d.Dialect, tables, step) })
		var pg interface{ SQLState() string }
		if !errors.As(err, &pg) || pg.SQLState() != lockNotAvailable {
			return err
		}
	}
}

// lockNotAvailable is PostgreSQL's code for a lock that was waited for in vain. See
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
const lockNotAvailable = "55P03"

// setBack moves all times of tables back by step. It gives up before others, who also
// have locks, wait for it in a circle.
func setBack(ctx context.Context, tx *database.Tx, dialect database.Dialect, tables []timeTable, step time.Duration) error {
	if dialect == database.Postgres {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = t.name
		}
		for _, text := range []string{`SET LOCAL lock_timeout = '100ms'`, "LOCK TABLE " + strings.Join(names, ", ") + " IN EXCLUSIVE MODE"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
	}
	for _, t := range tables {
		for _, column := range t.columns {
			text := fmt.Sprintf("UPDATE %s SET %s = %[2]s - $1 WHERE %[2]s BETWEEN %[3]d AND %[4]d", t.name, column, firstTime, lastTime)
			if _, err := tx.ExecContext(ctx, text, step.Microseconds()); err != nil {
				return fmt.Errorf("%s.%s: %w", t.name, column, err)
			}
		}
	}
	return nil
}

type timeTable struct {
	name    string
	columns []string
}

// timeColumns returns the tables that have times.
func timeColumns(ctx context.Context, d *database.DB) (tables []timeTable, err error) {
	q := `SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND substr(c.name, -3) = $1 ORDER BY 1, 2`
	if d.Dialect == database.Postgres {
		q = `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
			WHERE table_schema = current_schema() AND right(column_name, 3) = $1 AND data_type = 'bigint' ORDER BY 1, 2`
	}
	var rows []struct{ Table, Column string }
	if err := d.SelectContext(ctx, &rows, q, timeSuffix); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if slices.Contains(notes, r.Table+"."+r.Column) {
			continue
		}
		if n := len(tables); n == 0 || tables[n-1].name != r.Table {
			tables = append(tables, timeTable{name: r.Table})
		}
		last := &tables[len(tables)-1]
		last.columns = append(last.columns, r.Column)
	}
	return tables, nil
}
