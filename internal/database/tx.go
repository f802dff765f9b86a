package database

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// Executor runs statements in a transaction. [*sql.Tx] and [*sqlx.Tx] are
// Executors, and so are the transactions of libraries that build on database/sql.
type Executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Reader reads from the database: a [Tx], a [DB], or a *sqlx.DB.
type Reader interface {
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Tx is a transaction of this package or one that a caller has started. See
// [DB.InTx] and [DB.Join].
type Tx struct {
	on     Executor
	db     *shared
	mapper *reflectx.Mapper
	own    *sql.Tx  // nil: a caller has begun it
	topics []string // to be notified after the commit
	hooks  []func() // to be called after the commit

	values map[any]any                       // see [Tx.Value]
	last   []func(ctx context.Context) error // see [Tx.BeforeCommit]
	locked locked                            // see [CheckLocks]
}

// Join returns the transaction of a caller, in which the packages of this module
// can work. It returns tx itself if it is a [*Tx] of this database. It returns an
// error if there is no transaction in tx: statements would be committed one by one.
func (d *DB) Join(tx Executor) (*Tx, error) {
	switch t := tx.(type) {
	case nil:
		return nil, errNoTx
	case *Tx:
		if t == nil {
			return nil, errNoTx
		}
		if t.db == d.shared {
			return t, nil
		}
		tx = t.on
	case *sqlx.Tx:
		if t == nil || t.Tx == nil {
			return nil, errNoTx
		}
		tx = t.Tx
	case interface {
		BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	}:
		return nil, errors.New("database: this is a database, not a transaction: begin one and pass it")
	}
	if v := reflect.ValueOf(tx); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errNoTx
	}
	d.dues.touch()
	d.dues.joined.Store(time.Now().UnixNano()) // when it commits is not known
	return &Tx{on: tx, db: d.shared, mapper: d.Mapper}, nil
}

var errNoTx = errors.New("database: the transaction is nil")

// Reader returns the transaction of q, or d if there is none in q.
func (d *DB) Reader(q Executor) Reader {
	tx, err := d.Join(q)
	if err != nil {
		return d
	}
	return tx
}

// NotifyAfter notifies the listeners of topic, as [DB.Notify] does, after the
// commit of tx. A caller's transaction cannot tell when that is: the listeners of
// this node look a few times within the next second.
func (tx *Tx) NotifyAfter(topic string) {
	if tx.own == nil {
		tx.db.bus.expect(topic)
		return
	}
	if !slices.Contains(tx.topics, topic) {
		tx.topics = append(tx.topics, topic)
	}
}

// AfterCommit calls fn after the commit of tx, once for each call of AfterCommit.
// It is for signals within the process: a caller's transaction does not call it.
func (tx *Tx) AfterCommit(fn func()) {
	if tx.own != nil {
		tx.hooks = append(tx.hooks, fn)
	}
}

// Own reports whether a handle of this package has started tx and will commit it.
func (tx *Tx) Own() bool { return tx.own != nil }

// BeforeCommit calls fn at the end of tx, when its function has returned without an
// error. An error of fn undoes the transaction. tx must be [Tx.Own].
func (tx *Tx) BeforeCommit(fn func(ctx context.Context) error) { tx.last = append(tx.last, fn) }

// Value returns what a package keeps with tx under a key of a type of its own. It is
// made by fresh at the first call.
func (tx *Tx) Value(key any, fresh func() any) any {
	v, ok := tx.values[key]
	if !ok {
		if tx.values == nil {
			tx.values = map[any]any{}
		}
		v = fresh()
		tx.values[key] = v
	}
	return v
}

// finish calls what is to be done before the commit.
func (tx *Tx) finish(ctx context.Context) error {
	for _, fn := range tx.last {
		if err := fn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// committed notifies and calls what waits for the commit.
func (tx *Tx) committed(d *DB) {
	for _, topic := range tx.topics {
		d.Notify(topic)
	}
	for _, fn := range tx.hooks {
		fn()
	}
}

// part is tx for one of several writes that share it.
func (tx *Tx) part() *Tx {
	return &Tx{on: tx.on, db: tx.db, mapper: tx.mapper, own: tx.own}
}

// ExecContext executes a statement.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tx.checkLocks(query)
	if stmt := tx.prepared(query); stmt != nil {
		return tx.own.StmtContext(ctx, stmt).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction closes it
	}
	return tx.on.ExecContext(ctx, query, args...)
}

// NamedExecContext executes a statement whose parameters are the fields of arg, as
// :name.
func (tx *Tx) NamedExecContext(ctx context.Context, query string, arg any) (sql.Result, error) {
	query, args, err := sqlx.BindNamed(sqlx.DOLLAR, query, arg)
	if err != nil {
		return nil, err
	}
	return tx.ExecContext(ctx, query, args...)
}

// QueryContext executes a statement that returns rows.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	tx.checkLocks(query)
	if stmt := tx.prepared(query); stmt != nil {
		return tx.own.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction closes it
	}
	return tx.on.QueryContext(ctx, query, args...)
}

func (tx *Tx) prepared(query string) *sql.Stmt {
	if tx.own == nil {
		return nil // it may be of another handle
	}
	return tx.db.statements.ready(query)
}

// GetContext reads the first row that a statement returns, or [sql.ErrNoRows].
func (tx *Tx) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	return get(dest, rows, err, tx.mapper)
}

// SelectContext reads all rows that a statement returns into the slice at dest.
func (tx *Tx) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	return selectAll(dest, rows, err, tx.mapper)
}

// get reads the first row into dest, and closes rows.
func get(dest any, rows *sql.Rows, err error, mapper *reflectx.Mapper) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := scanRow(&sqlx.Rows{Rows: rows, Mapper: mapper}, dest); err != nil {
		return err
	}
	return rows.Close()
}

// selectAll reads all rows into the slice at dest, and closes rows.
func selectAll(dest any, rows *sql.Rows, err error, mapper *reflectx.Mapper) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	all := reflect.ValueOf(dest).Elem()
	element := all.Type().Elem()
	pointers := element.Kind() == reflect.Pointer
	if pointers {
		element = element.Elem()
	}
	mapped := &sqlx.Rows{Rows: rows, Mapper: mapper}
	for rows.Next() {
		row := reflect.New(element)
		if err := scanRow(mapped, row.Interface()); err != nil {
			return err
		}
		if !pointers {
			row = row.Elem()
		}
		all.Set(reflect.Append(all, row))
	}
	return rows.Err()
}

var (
	scanner = reflect.TypeFor[sql.Scanner]()
	instant = reflect.TypeFor[time.Time]()
)

// scanRow reads a row into a struct, by the names of its fields, or into a value.
func scanRow(rows *sqlx.Rows, dest any) error {
	t := reflect.TypeOf(dest)
	if e := t.Elem(); e.Kind() == reflect.Struct && e != instant && !t.Implements(scanner) {
		return rows.StructScan(dest)
	}
	return rows.Scan(dest)
}
