package settings

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// maxOwnClaims is how many references of an account claim one id. Of a reference
// the first maxReference claims count, so no account can take all of these.
const maxOwnClaims = 10

// claimsLock is the first key of the locks of mayClaim.
const claimsLock = 0x636c6d73

// mayClaim refuses to have r claim an id that many of its account claim
// already. What claims it stays as it is.
func (b *Box) mayClaim(ctx context.Context, tx *database.Tx, r *store.Reference, id string) error {
	if id == "" {
		return nil
	}
	if b.Store.DB.Dialect == database.Postgres { // others of the account wait; seldom, those of another
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1, hashtext($2))`, claimsLock, r.Account); err != nil {
			return fmt.Errorf("locking the claims of an account: %w", err)
		}
	}
	var others int
	err := tx.GetContext(ctx, &others, `SELECT count(*) FROM messaging_reference WHERE account = $1 AND kind = $2 AND line_key = $3 AND id <> $4
		AND NOT EXISTS (SELECT 1 FROM messaging_reference AS own WHERE own.id = $4 AND own.line_key = $3)`, r.Account, r.Kind, id, r.ID)
	if err != nil {
		return fmt.Errorf("counting the claims of an id: %w", err)
	}
	if others >= maxOwnClaims {
		return &payload.Invalid{Field: "settings", Message: fmt.Sprintf("have a number or page that %d references of the account already have", maxOwnClaims)}
	}
	return nil
}
