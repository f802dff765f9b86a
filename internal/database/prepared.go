package database

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Prepare prepares statements that are executed often, for as long as the handle is
// open. It needs a connection: do not call it in a transaction.
func (d *DB) Prepare(ctx context.Context, texts ...string) error {
	d.preparing.Lock()
	defer d.preparing.Unlock()
	for _, text := range texts {
		if _, ok := d.prepared.Load(text); ok {
			continue
		}
		stmt, err := d.PreparexContext(ctx, text)
		if err != nil {
			return fmt.Errorf("preparing a statement: %w", err)
		}
		d.prepared.Store(text, stmt)
	}
	return nil
}

// ready returns the prepared statement of a text. It returns nil if there is none,
// or if tx is not a transaction of this package, since that may be of another
// handle.
func (d *DB) ready(tx *sqlx.Tx, text string) *sqlx.Stmt {
	if _, own := d.own.Load(tx); !own {
		return nil
	}
	stmt, _ := d.prepared.Load(text)
	s, _ := stmt.(*sqlx.Stmt)
	return s
}

// SelectTx is tx.SelectContext with the prepared statement of text, if there is
// one.
func (d *DB) SelectTx(ctx context.Context, tx *sqlx.Tx, dest any, text string, args ...any) error {
	if stmt := d.ready(tx, text); stmt != nil {
		return tx.StmtxContext(ctx, stmt).SelectContext(ctx, dest, args...) //nolint:sqlclosecheck // tx closes it
	}
	return tx.SelectContext(ctx, dest, text, args...)
}

// ExecTx is tx.ExecContext with the prepared statement of text, if there is one.
func (d *DB) ExecTx(ctx context.Context, tx *sqlx.Tx, text string, args ...any) (sql.Result, error) {
	if stmt := d.ready(tx, text); stmt != nil {
		return tx.StmtxContext(ctx, stmt).ExecContext(ctx, args...)
	}
	return tx.ExecContext(ctx, text, args...)
}

// SelectPrepared is d.SelectContext with the prepared statement of text, if there
// is one.
func (d *DB) SelectPrepared(ctx context.Context, dest any, text string, args ...any) error {
	if stmt, ok := d.prepared.Load(text); ok {
		return stmt.(*sqlx.Stmt).SelectContext(ctx, dest, args...)
	}
	return d.SelectContext(ctx, dest, text, args...)
}

// QueryPrepared is d.QueryContext with the prepared statement of text, if there is
// one.
func (d *DB) QueryPrepared(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt, ok := d.prepared.Load(text); ok {
		return stmt.(*sqlx.Stmt).QueryContext(ctx, args...)
	}
	return d.QueryContext(ctx, text, args...)
}

// QueryTx is tx.QueryContext with the prepared statement of text, if there is one.
func (d *DB) QueryTx(ctx context.Context, tx *sqlx.Tx, text string, args ...any) (*sql.Rows, error) {
	if stmt := d.ready(tx, text); stmt != nil {
		return tx.StmtxContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return tx.QueryContext(ctx, text, args...)
}

// Insert inserts rows. values are the rows one after the other, types the types of
// the columns; into names the table and the columns.
func (d *DB) Insert(ctx context.Context, tx *sqlx.Tx, into string, types []string, values []any) error {
	return d.ExecRows(ctx, tx, Rows{Before: into + " ", Types: types, Values: values})
}
