package messaging

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Sink takes part in the transaction that makes events. EventsTx must only
// write rows: an error undoes the transaction, and the event with it.
type Sink interface {
	EventsTx(ctx context.Context, tx *sqlx.Tx, evs []Event) error
	// Committed is called after the commit, to wake workers. It must not block,
	// nor call [Service.Committed], which calls it.
	Committed()
}
