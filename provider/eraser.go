package provider

import (
	"context"
	"database/sql"
)

// Eraser is a Provider that keeps something of people beside what its lines
// hand to their Inbox, in the database of who uses it.
type Eraser interface {
	// EraseTx deletes what a line keeps of somebody or of a group, which are
	// known by each of these chat ids. It does so in the transaction in which
	// everything else that is held on them goes, and may run more than once
	// before a commit. Whether the line is open does not matter; nothing is said
	// to its network.
	EraseTx(ctx context.Context, tx *sql.Tx, ref ReferenceID, chatIDs []string) error
}
