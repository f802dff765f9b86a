package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// Errors of [Archive.RestoreAccount], which has written no row then.
var (
	// ErrNoAccount reports an account that the archive does not have.
	ErrNoAccount = errors.New("backup: it has no such account")
	// ErrExists reports an account, or something of it, that the database has.
	ErrExists = errors.New("backup: it exists already")
	// ErrOldTables reports a database that the server must upgrade before.
	ErrOldTables = errors.New("backup: the tables have an older version: start the server once")
)

// AccountOptions configures [Archive.RestoreAccount]. Migrate is required.
type AccountOptions struct {
	// Migrate is as in [RestoreOptions].
	Migrate func(ctx context.Context, db *sqlx.DB) error
	// Secret checks that the secrets of the server open what is sealed in a database, as
	// server.CheckSecret does. nil: they are not checked.
	Secret func(ctx context.Context, db *sqlx.DB) error
	// Media receives the files of messages. nil: they are not restored.
	Media media.Store
	// Folder is for a temporary database, which is as large as that of the backup. "":
	// that of [os.TempDir].
	Folder string
	// Progress is called occasionally, from one goroutine.
	Progress func(Step)
}

// Restored is what [Archive.RestoreAccount] has restored.
type Restored struct {
	Account     string // its id
	Rows, Files int64
}

// RestoreAccount restores one account into the database of a server that has lost it,
// and that may be running. who is the id of the account, or the e-mail address of one of
// its users. Everything gets the ids that it had. What was about to be done when the
// backup was written is done now, as after [Archive.Restore]; mails are not sent. The
// backup may be that of an older version, or of the other kind of database.
//
// It returns [ErrDamaged], [ErrNewer], [ErrOldTables], [ErrNoAccount], [ErrUnfit] or the
// error of Secret; and [ErrExists] if the account, an e-mail address or anything else
// that must be unique is in the database. It writes all rows in one transaction.
func (a *Archive) RestoreAccount(ctx context.Context, db *sqlx.DB, who string, opts *AccountOptions) (Restored, error) {
	r, err := a.restoreAccount(ctx, db, who, *opts)
	if err != nil {
		return Restored{}, fmt.Errorf("restoring an account: %w", cause(ctx, err))
	}
	return r, nil
}

func (a *Archive) restoreAccount(ctx context.Context, db *sqlx.DB, who string, opts AccountOptions) (Restored, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return Restored{}, err
	}
	r := &moving{a: a, to: d, opts: opts}
	if r.opts.Progress == nil {
		r.opts.Progress = func(Step) {}
	}
	if err := r.current(ctx); err != nil {
		return Restored{}, err
	}
	folder, err := os.MkdirTemp(opts.Folder, "trunkline-*") // mode 0700
	if err != nil {
		return Restored{}, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // there is nothing else to do
	if err := r.unpack(ctx, filepath.Join(folder, "backup.db")); err != nil {
		return Restored{}, noRoom(err, folder)
	}
	defer r.from.Close() //nolint:errcheck // it is removed
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return r.find(ctx, who) }, r.absent, r.files, r.rows,
	} {
		if err := step(ctx); err != nil {
			return Restored{}, err
		}
	}
	return r.done, nil
}

// moving is the state of a restore of an account: first everything is restored into a
// temporary database, in which SQL finds its rows.
type moving struct {
	a    *Archive
	from *database.DB // the temporary one
	to   *database.DB
	opts AccountOptions
	done Restored
}

// current checks that the database has the tables of this program.
func (r *moving) current(ctx context.Context) error {
	known, err := VersionsAfter(ctx, r.opts.Migrate)
	if err != nil {
		return err
	}
	_, have, err := describe(ctx, r.to, r.to)
	if err != nil {
		return err
	}
	older, newer := Compare(have, known)
	switch {
	case len(newer) > 0:
		return fmt.Errorf("%w: the database's tables of %s", ErrNewer, newer[0])
	case len(older) > 0:
		return fmt.Errorf("%w: those of %s", ErrOldTables, older[0])
	}
	return nil
}

// unpack restores the backup into a new database, and upgrades its tables.
func (r *moving) unpack(ctx context.Context, path string) error {
	db, err := open.Open(ctx, "sqlite://"+path+"?synchronous=normal")
	if err != nil {
		return err
	}
	if r.from, err = database.Of(ctx, db); err == nil {
		err = r.a.Restore(ctx, db, &RestoreOptions{Migrate: r.opts.Migrate, Progress: r.opts.Progress})
	}
	if err == nil {
		err = r.opts.Migrate(ctx, db)
	}
	if err == nil && r.opts.Secret != nil {
		err = r.opts.Secret(ctx, db)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// find looks for the account in the backup.
func (r *moving) find(ctx context.Context, who string) error {
	var ids []string
	err := r.from.SelectContext(ctx, &ids, `SELECT id FROM auth_account WHERE closed_us = 0
		AND (id = $1 OR id IN (SELECT account_id FROM auth_user WHERE email = $2))`, who, strings.ToLower(strings.TrimSpace(who)))
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return fmt.Errorf("%w: %s", ErrNoAccount, who)
	}
	r.done.Account = ids[0]
	return nil
}

// absent checks that the database has neither the account nor its users.
func (r *moving) absent(ctx context.Context) error {
	var there bool
	err := r.to.GetContext(ctx, &there, `SELECT EXISTS (SELECT 1 FROM auth_account WHERE id = $1)`, r.done.Account)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%w: the account %s", ErrExists, r.done.Account)
	}
	var emails []string
	if err := r.from.SelectContext(ctx, &emails, `SELECT email FROM auth_user WHERE account_id = $1 ORDER BY email`, r.done.Account); err != nil {
		return err
	}
	for _, email := range emails {
		if err := r.to.GetContext(ctx, &there, `SELECT EXISTS (SELECT 1 FROM auth_user WHERE email = $1)`, email); err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%w: the user %s, of another account", ErrExists, email)
		}
	}
	return nil
}

// files stores the files of the account in Media.
func (r *moving) files(ctx context.Context) error {
	if r.a.Manifest.Files.Left || r.opts.Media == nil {
		return nil
	}
	var ids []string
	if err := r.from.SelectContext(ctx, &ids, `SELECT id FROM messaging_media WHERE account = $1`, r.done.Account); err != nil {
		return err
	}
	its := map[string]bool{}
	for _, id := range ids {
		its[id] = true
	}
	return r.a.eachFile(func(f fileLine) error {
		if !its[f.ID] {
			return nil
		}
		if err := r.a.putFile(ctx, r.opts.Media, f); err != nil {
			return err
		}
		r.done.Files++
		r.opts.Progress(Step{"files", "", r.done.Files, int64(len(ids))})
		return nil
	})
}

// rows copies the rows of the account.
func (r *moving) rows(ctx context.Context) error {
	ctx = database.AllowSilence(ctx, countsFor)
	tables, _, err := describe(ctx, r.from, r.from)
	if err != nil {
		return err
	}
	conditions, err := owned(ctx, r.from, tables)
	if err != nil {
		return err
	}
	return r.to.Alone(ctx, func() error {
		tx, err := r.to.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after Commit it returns ErrTxDone
		if err := r.clearQueues(ctx, tx); err != nil {
			return err
		}
		for _, t := range tables {
			if conditions[t.Name] == "" {
				continue
			}
			err := r.copyTable(ctx, tx, t, conditions[t.Name])
			if database.IsUnique(err) {
				err = fmt.Errorf("%w: a row of table %s", ErrExists, t.Name)
			}
			if err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		return tx.Commit()
	})
}

// clearQueues deletes what queues remember of the account's subscribers: the places of
// jobs that were done, or ended when the account was deleted.
func (r *moving) clearQueues(ctx context.Context, tx *sqlx.Tx) error {
	var subscribers []string
	err := r.from.SelectContext(ctx, &subscribers, `SELECT subscriber FROM queue_partition WHERE `+itsSubscriber+`
		UNION SELECT subscriber FROM queue_subscriber WHERE `+itsSubscriber, r.done.Account)
	if err != nil {
		return err
	}
	for _, subscriber := range subscribers {
		for _, text := range []string{
			`DELETE FROM queue_job WHERE partition_id IN (SELECT id FROM queue_partition WHERE subscriber = $1)`,
			`DELETE FROM queue_partition WHERE subscriber = $1`,
			`DELETE FROM queue_review WHERE subscriber = $1`,
			`DELETE FROM queue_subscriber WHERE subscriber = $1`,
		} {
			if _, err := tx.ExecContext(ctx, text, subscriber); err != nil {
				return fmt.Errorf("clearing the queues of the account: %w", err)
			}
		}
	}
	return nil
}

// copyTable copies the rows of a table that meet a condition.
func (r *moving) copyTable(ctx context.Context, tx *sqlx.Tx, t table, condition string) error {
	rows, err := r.from.QueryxContext(ctx, t.selection(r.from.Dialect, condition), r.done.Account)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err returns the error
	in := &inserter{tx: tx, into: insertion(r.to.Dialect, t.Table), columns: len(t.Columns)}
	if slices.Contains(shared, t.Name) {
		in.after = " ON CONFLICT DO NOTHING"
	}
	defer in.close()
	var last int64
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return err
		}
		bytes, err := r.fit(row, t, &last)
		if err != nil {
			return err
		}
		if err := in.add(ctx, row, bytes); err != nil {
			return err
		}
		if r.done.Rows++; r.done.Rows%progressInterval == 0 {
			r.opts.Progress(Step{"rows", t.Name, r.done.Rows, 0})
		}
	}
	if err := errors.Join(rows.Err(), in.flush(ctx)); err != nil {
		return err
	}
	return r.continueAfter(ctx, tx, t, last)
}

// fit makes the values of a row those of their kinds. It returns about how many bytes
// they have, and sets last to the highest automatic key.
func (r *moving) fit(row []any, t table, last *int64) (bytes int, err error) {
	for i, c := range t.Columns {
		if row[i], err = plain(c.Kind, row[i]); err != nil {
			return 0, fmt.Errorf("column %s: %w", c.Name, err)
		}
		switch v := row[i].(type) {
		case rawText:
			row[i] = string(v.Bytes)
			bytes += len(v.Bytes)
		case string:
			bytes += len(v)
		case []byte:
			bytes += len(v)
		case int64:
			if c.Name == t.Counter {
				*last = max(*last, v)
			}
		}
	}
	if r.to.Dialect == database.Postgres {
		err = unfit(row, t.Columns)
	}
	return bytes, err
}

// continueAfter makes a table's automatic key continue after a number, if it is not
// beyond: it is, unless the database has another history than the backup. SQLite does so
// by itself.
func (r *moving) continueAfter(ctx context.Context, tx *sqlx.Tx, t table, last int64) error {
	if t.Counter == "" || last == 0 || r.to.Dialect == database.SQLite {
		return nil
	}
	_, err := tx.ExecContext(ctx, `SELECT setval(s, $3) FROM CAST(pg_get_serial_sequence($1, $2) AS regclass) AS s
		WHERE COALESCE(pg_sequence_last_value(s), 0) < $3`, t.Name, t.Counter, last)
	return err
}
