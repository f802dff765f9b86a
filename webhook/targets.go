package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Target is an endpoint that may get deliveries, of whichever account.
type Target struct {
	ID        string `db:"id"`
	URL       string `db:"url"`
	Enabled   bool   `db:"enabled"`
	Paused    bool   `db:"paused"`     // it is probed, because it was down
	LastError string `db:"last_error"` // "" after a success
}

// Targets are the endpoints of all accounts, the oldest first.
func Targets(ctx context.Context, db *sqlx.DB) ([]Target, error) {
	var out []Target
	if err := db.SelectContext(ctx, &out, `SELECT id, url, enabled, pauses > 0 AS paused, last_error FROM webhook_endpoint ORDER BY created_us, id`); err != nil {
		return nil, fmt.Errorf("listing the endpoints: %w", err)
	}
	return out, nil
}
