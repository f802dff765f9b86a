package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// RestoreOptions configures [Archive.Restore]. Migrate is required.
type RestoreOptions struct {
	// Migrate creates the tables of all packages that wrote the archive, as
	// server.Migrate does, and web.Migrate if WhatsApp Web is used.
	Migrate func(ctx context.Context, db *sqlx.DB) error
	// Media receives the files of messages. nil: they are not restored.
	Media media.Store
	// Secret receives the archive's secret, if there is one, before the rows are
	// committed. If it returns an error nothing is restored. nil: the secret is
	// dropped.
	Secret func(secret string) error
	// Progress is called occasionally, from one goroutine.
	Progress func(Step)
}

// Restore restores the archive into a database without rows, SQLite or PostgreSQL,
// and its files into Media. The tables get the versions that they had: the server
// upgrades them when it starts.
//
// It returns [ErrDamaged], [ErrNewer] or [ErrNotEmpty] before it has created more
// than tables without rows, and [ErrUnfit] if PostgreSQL cannot store what SQLite
// could. It restores all rows in one transaction and compares them with the archive
// before the commit. They are therefore restored completely or not at all, and a
// failed restore may be repeated.
func (a *Archive) Restore(ctx context.Context, db *sqlx.DB, opts *RestoreOptions) error {
	d, err := database.Of(ctx, db)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	r := &restoring{a: a, d: d, opts: *opts}
	if r.opts.Progress == nil {
		r.opts.Progress = func(Step) {}
	}
	for _, step := range []func(context.Context) error{r.check, r.tables, r.files, r.rows} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("restoring a backup: %w", cause(ctx, err))
		}
	}
	return nil
}

// cause prefers the context's error: drivers report an expired context in many
// ways.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// restoring is the state of a restore.
type restoring struct {
	a      *Archive
	d      *database.DB
	opts   RestoreOptions
	target map[string]table
	order  []string // tables of the target
}

// check finds reasons against a restore before anything is changed.
func (r *restoring) check(ctx context.Context) error {
	known, err := VersionsAfter(ctx, r.opts.Migrate)
	if err != nil {
		return err
	}
	if _, newer := Compare(r.a.Manifest.Versions, known); len(newer) > 0 {
		pkg := newer[0]
		return fmt.Errorf("%w, %s: the tables of %s have version %d, this program knows %d",
			ErrNewer, r.a.Manifest.Program, pkg, r.a.Manifest.Versions[pkg], known[pkg])
	}
	if err := r.empty(ctx); err != nil {
		return err
	}
	return r.a.Check(ctx, r.opts.Progress)
}

// empty checks that the database has no rows of ours. It may have tables without
// rows, as after a failed restore.
func (r *restoring) empty(ctx context.Context) error {
	tables, versions, err := describe(ctx, r.d, r.d)
	if err != nil {
		return err
	}
	for _, t := range tables {
		var some bool
		if err := r.d.GetContext(ctx, &some, `SELECT EXISTS (SELECT 1 FROM `+t.Name+`)`); err != nil {
			return err
		}
		if some {
			return fmt.Errorf("%w: table %s has rows", ErrNotEmpty, t.Name)
		}
	}
	for pkg, v := range versions {
		if pkg != whatsmeow && v > r.a.Manifest.Versions[pkg] {
			return fmt.Errorf("%w: its tables of %s are newer than the backup's", ErrNotEmpty, pkg)
		}
	}
	return nil
}

// tables creates the tables in the versions of the archive.
func (r *restoring) tables(ctx context.Context) error {
	r.d.StopAt(r.a.Manifest.Versions)
	defer r.d.StopAt(nil)
	if err := r.opts.Migrate(ctx, r.d.DB); err != nil {
		return err
	}
	tables, _, err := describe(ctx, r.d, r.d)
	if err != nil {
		return err
	}
	r.target = map[string]table{}
	for _, t := range tables {
		r.target[t.Name] = t
		r.order = append(r.order, t.Name)
	}
	return r.same()
}

// same checks that the archive has exactly the tables and columns of the database,
// each once.
func (r *restoring) same() error {
	left := maps.Clone(r.target)
	for _, t := range r.a.Manifest.Tables {
		have, ok := left[t.Name]
		if !ok {
			return fmt.Errorf("%w: table %s is unknown, or is there twice", ErrDamaged, t.Name)
		}
		delete(left, t.Name)
		if !slices.IsSortedFunc(t.Columns, func(a, b Column) int { return cmp.Or(strings.Compare(a.Name, b.Name), -1) }) {
			return fmt.Errorf("%w: a column of table %s is there twice", ErrDamaged, t.Name)
		}
		for _, c := range t.Columns {
			if !slices.Contains(have.Columns, c) {
				return fmt.Errorf("%w: column %s of table %s is unknown", ErrDamaged, c.Name, t.Name)
			}
		}
		if grows(t.Name) && len(t.Columns) > 0 {
			continue
		}
		if len(t.Columns) != len(have.Columns) || t.Counter != have.Counter {
			return fmt.Errorf("%w: table %s differs from its description", ErrDamaged, t.Name)
		}
	}
	for name := range left {
		if !grows(name) {
			return fmt.Errorf("%w: table %s is missing", ErrDamaged, name)
		}
	}
	return nil
}

// grows reports whether a table always has the newest version: tables of a library
// cannot be created in an older one.
func grows(table string) bool { return strings.HasPrefix(table, whatsmeow+"_") }

// files stores the files in Media. It may replace an existing file, which has the
// same content.
func (r *restoring) files(ctx context.Context) error {
	if r.a.Manifest.Files.Left || r.opts.Media == nil {
		return nil
	}
	var done int64
	return r.a.eachFile(func(f fileLine) error {
		if err := r.a.putFile(ctx, r.opts.Media, f); err != nil {
			return err
		}
		done++
		r.opts.Progress(Step{"files", "", done, r.a.Manifest.Files.Count})
		return nil
	})
}

// putFile stores a file of a message.
func (a *Archive) putFile(ctx context.Context, store media.Store, f fileLine) error {
	file, err := a.open(filePath(f.ID))
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return store.Put(ctx, f.ID, file, f.Bytes)
}

// rows fills the tables, and compares them with the archive.
func (r *restoring) rows(ctx context.Context) error {
	ctx = database.AllowSilence(ctx, countsFor)
	tables := map[string]Table{}
	var total int64
	for _, t := range r.a.Manifest.Tables {
		tables[t.Name] = t
		total += t.Rows
	}
	return r.d.Alone(ctx, func() error {
		tx, err := r.d.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after Commit it returns ErrTxDone
		var done int64
		for _, name := range r.order {
			t, there := tables[name]
			if !there {
				continue
			}
			err := r.fill(ctx, tx, t, func(n int64) { r.opts.Progress(Step{"rows", name, done + n, total}) })
			if err == nil {
				err = r.compare(ctx, tx, t)
			}
			if err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
			done += t.Rows
			r.opts.Progress(Step{"rows", name, done, total})
		}
		if err := r.secret(); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// secret passes the archive's secret on: without it the rows are useless.
func (r *restoring) secret() error {
	if r.opts.Secret == nil {
		return nil
	}
	secret, err := r.a.Secret()
	if err != nil || secret == "" {
		return err
	}
	return r.opts.Secret(secret)
}

// fill restores the rows of a table.
func (r *restoring) fill(ctx context.Context, tx *sqlx.Tx, t Table, progress func(int64)) error {
	file, err := r.a.open(tablePath(t.Name))
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	rows := newReader(file, t.Columns)
	in := &inserter{tx: tx, into: insertion(r.d.Dialect, t), columns: len(t.Columns)}
	defer in.close()
	for n := int64(1); ; n++ {
		row, bytes, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && r.d.Dialect == database.Postgres {
			err = unfit(row, t.Columns)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if err := in.add(ctx, row, bytes); err != nil {
			return err
		}
		if n%progressInterval == 0 {
			progress(n)
		}
	}
	if err := in.flush(ctx); err != nil {
		return err
	}
	return r.count(ctx, tx, t)
}

// count makes a table's automatic key continue after its last number.
func (r *restoring) count(ctx context.Context, tx *sqlx.Tx, t Table) error {
	if t.Counter == "" || t.Last == 0 {
		return nil
	}
	if r.d.Dialect == database.Postgres {
		_, err := tx.ExecContext(ctx, `SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3)`, t.Name, t.Counter, t.Last)
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = $1`, t.Name); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)`, t.Name, t.Last)
	return err
}

// compare reads a table again and checks that it equals the archive.
func (r *restoring) compare(ctx context.Context, tx *sqlx.Tx, want Table) error {
	have := r.target[want.Name]
	have.Columns = want.Columns
	p := digest()
	if err := have.dump(ctx, r.d, tx, p, func(int64) {}); err != nil {
		return err
	}
	if have.Rows != want.Rows || p.sum() != want.SHA256 {
		return errors.New("the stored rows differ from the archive")
	}
	return nil
}
