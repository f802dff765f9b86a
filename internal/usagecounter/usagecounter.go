// Package usagecounter counts the rows of a growing table by account and day, so
// that reading the usage of an account is fast. Writers of the table do nothing for
// it. Rows are counted once, in the order of their ids, when they are so old that
// no earlier row can still appear. Newer rows are counted on demand. Rows may be
// deleted after they were counted, without changing the usage.
package usagecounter

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Counter counts the rows of one table.
type Counter struct {
	db   *database.DB
	opts Options
}

// Options configures a [Counter]. Name and Rows are required.
type Options struct {
	Name string // distinguishes counters that share a database
	// Rows is a SELECT of the rows to count, with the columns id (increasing with
	// time), account, what and at_us. If it joins tables, use CROSS JOIN so that
	// SQLite begins with the table that has the ids.
	Rows   string
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

const (
	day    = 24 * time.Hour
	daySQL = `at_us / 86400000000`
	// visibleAfter is the age at which no transaction can still commit a row with a
	// lower id.
	visibleAfter = time.Minute
	interval     = 30 * time.Second
	step         = 10_000 // rows counted in one transaction
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "usagecounter", migrations)
}

// New returns a Counter over db. [Migrate] must have created its tables.
func New(db *database.DB, o Options) *Counter {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Counter{db, o}
}

// Run counts rows until ctx ends. Any number of nodes may run it.
func (c *Counter) Run(ctx context.Context) error {
	return periodic.RunActive(ctx, c.db, interval, nil, c.opts.Logger.With(slog.String("counter", c.opts.Name)), "counting what accounts use", c.Count)
}

// Count counts all rows that are old enough.
func (c *Counter) Count(ctx context.Context) error {
	for {
		_, to, err := c.next(ctx, c.db)
		if err == nil && to == 0 {
			return nil
		}
		if err == nil {
			err = c.db.InTx(ctx, func(tx *database.Tx) error { return c.count(ctx, tx) })
		}
		if err != nil {
			return fmt.Errorf("counting %s: %w", c.opts.Name, err)
		}
	}
}

// count counts one step.
func (c *Counter) count(ctx context.Context, tx *database.Tx) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO usagecounter_mark (name, counted) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING`, c.opts.Name); err != nil {
		return err
	}
	if c.db.Dialect == database.Postgres { // one node at a time
		if _, err := tx.ExecContext(ctx, `SELECT 1 FROM usagecounter_mark WHERE name = $1 FOR UPDATE`, c.opts.Name); err != nil {
			return err
		}
	}
	from, to, err := c.next(ctx, tx)
	if err != nil || to == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO usagecounter_day (name, account, day, what, n)
		SELECT CAST($1 AS TEXT), account, `+daySQL+`, what, count(*) FROM (`+c.opts.Rows+`) AS source WHERE id > $2 AND id <= $3
		GROUP BY account, `+daySQL+`, what
		ON CONFLICT (name, account, day, what) DO UPDATE SET n = usagecounter_day.n + excluded.n`, c.opts.Name, from, to)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE usagecounter_mark SET counted = $1 WHERE name = $2`, to, c.opts.Name)
	return err
}

// next returns the last counted id and the last id to count; 0: there is nothing to
// count.
func (c *Counter) next(ctx context.Context, q database.Reader) (from, to int64, err error) {
	if from, err = c.mark(ctx, q); err != nil {
		return 0, 0, err
	}
	err = q.GetContext(ctx, &to, `SELECT COALESCE(max(id), 0) FROM (SELECT id, at_us FROM (`+c.opts.Rows+`) AS source
		WHERE id > $1 ORDER BY id LIMIT $2) AS next WHERE at_us < $3`, from, step, database.Micros(c.opts.Now().Add(-visibleAfter)))
	return from, to, err
}

// Since counts the rows of an account by kind, from the day of since (UTC) until
// now.
func (c *Counter) Since(ctx context.Context, account string, since time.Time) (map[string]int64, error) {
	return c.SinceIn(ctx, c.db, account, since)
}

// SinceIn is [Counter.Since] within a transaction.
func (c *Counter) SinceIn(ctx context.Context, q database.Reader, account string, since time.Time) (map[string]int64, error) {
	mark, err := c.mark(ctx, q)
	for err == nil {
		// The mark is a parameter, so that PostgreSQL plans for its value.
		var out map[string]int64
		if out, err = c.since(ctx, q, account, since.UnixMicro()/day.Microseconds(), mark); err != nil {
			break
		}
		was := mark
		if mark, err = c.mark(ctx, q); err == nil && mark == was {
			return out, nil
		}
	}
	return nil, fmt.Errorf("reading the count of %s: %w", c.opts.Name, err)
}

// since counts from a day on, if usagecounter_day has the counts up to mark.
func (c *Counter) since(ctx context.Context, q database.Reader, account string, first, mark int64) (map[string]int64, error) {
	var parts []struct {
		What string `db:"what"`
		N    int64  `db:"n"`
	}
	err := q.SelectContext(ctx, &parts, `SELECT what, CAST(SUM(n) AS BIGINT) AS n FROM usagecounter_day
		WHERE name = $1 AND account = $2 AND day >= $3 GROUP BY what
		UNION ALL SELECT what, count(*) AS n FROM (`+c.opts.Rows+`) AS source
		WHERE id > $4 AND account = $2 AND `+daySQL+` >= $3 GROUP BY what`, c.opts.Name, account, first, mark)
	out := map[string]int64{}
	for _, p := range parts {
		out[p.What] += p.N
	}
	return out, err
}

// mark returns the last counted id.
func (c *Counter) mark(ctx context.Context, q database.Reader) (id int64, err error) {
	err = q.GetContext(ctx, &id, `SELECT COALESCE(max(counted), 0) FROM usagecounter_mark WHERE name = $1`, c.opts.Name)
	return id, err
}

// ForgetTx deletes the counts of an account.
func (c *Counter) ForgetTx(ctx context.Context, tx *database.Tx, account string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM usagecounter_day WHERE name = $1 AND account = $2`, c.opts.Name, account); err != nil {
		return fmt.Errorf("forgetting the count of %s: %w", c.opts.Name, err)
	}
	return nil
}
