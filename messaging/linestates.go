package messaging

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider"
)

// LineState is how a line stands, as its network last said.
type LineState struct {
	ID      provider.ReferenceID `db:"id"`
	Kind    provider.Kind        `db:"kind"`
	State   string               `db:"state"`
	Code    string               `db:"error_code"` // of its last error; "": there is none
	Message string               `db:"error_message"`
}

// LineStates are the lines of all accounts, the oldest first.
func LineStates(ctx context.Context, db *sqlx.DB) ([]LineState, error) {
	var out []LineState
	if err := db.SelectContext(ctx, &out, `SELECT id, kind, state, error_code, error_message FROM messaging_reference ORDER BY id`); err != nil {
		return nil, fmt.Errorf("listing the lines: %w", err)
	}
	return out, nil
}
