package provider

import (
	"context"
	"database/sql"
)

// Tx is a transaction on the caller's database: a [*sql.Tx], or what another
// library builds on one.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Eraser is a Provider that stores data of people in the caller's database, in
// addition to what its references hand to their Inbox.
type Eraser interface {
	// EraseTx deletes what a reference stores of a person or a group, which
	// have these chat ids. To keep transactions small it may delete only a
	// part: more reports that it must be called again, in the same or another
	// transaction. It may be called while the reference is open. It does not
	// call the network.
	EraseTx(ctx context.Context, tx Tx, ref ReferenceID, chatIDs []string) (more bool, err error)
}
