package provider

import (
	"context"
	"database/sql"
)

// Eraser is a Provider that keeps something of people besides what its references
// hand to their Inbox, in the database of who uses it.
type Eraser interface {
	// EraseTx deletes what a reference keeps of a person or of a group, which are
	// known by each of these chat ids, or says that there is more: a transaction
	// must not become large, however much there is. It is called in one after the
	// other until there is no more, and may run more than once before a commit.
	// Whether the reference is open does not matter; nothing is said to its network.
	EraseTx(ctx context.Context, tx *sql.Tx, ref ReferenceID, chatIDs []string) (more bool, err error)
}
