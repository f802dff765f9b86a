package keyring

import (
	"context"
	"embed"
	"encoding/base64"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the table of this package.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "keyring", migrations)
}

// Check compares the ring with the check value that the database keeps, which
// [Migrate] has made room for. An empty database takes the first secret's; one
// that was written under a later secret of the list is moved on to the first.
// It returns [ErrOtherSecret] when none of the secrets is the database's.
func (r *Ring) Check(ctx context.Context, db *sqlx.DB) error {
	d, err := database.Of(ctx, db)
	if err != nil {
		return err
	}
	err = d.InTx(ctx, func(tx *sqlx.Tx) error {
		want := base64.RawURLEncoding.EncodeToString(r.MAC("check", nil))
		// The update that changes nothing takes the row's lock and returns it.
		var have string
		if err := tx.GetContext(ctx, &have, `INSERT INTO keyring_check (id, value) VALUES (1, $1)
			ON CONFLICT (id) DO UPDATE SET value = keyring_check.value RETURNING value`, want); err != nil {
			return err
		}
		if have == want {
			return nil
		}
		mac, err := base64.RawURLEncoding.DecodeString(have)
		if err != nil || !r.Verify("check", nil, mac) {
			return ErrOtherSecret
		}
		_, err = tx.ExecContext(ctx, `UPDATE keyring_check SET value = $1 WHERE id = 1`, want)
		return err
	})
	if err != nil {
		return fmt.Errorf("checking the secret: %w", err)
	}
	return nil
}

// Matches is [Ring.Check] that changes nothing: an empty database belongs to
// every secret.
func (r *Ring) Matches(ctx context.Context, db *sqlx.DB) error {
	var have []string
	if err := db.SelectContext(ctx, &have, `SELECT value FROM keyring_check`); err != nil {
		return fmt.Errorf("checking the secret: %w", err)
	}
	for _, value := range have {
		mac, err := base64.RawURLEncoding.DecodeString(value)
		if err != nil || !r.Verify("check", nil, mac) {
			return ErrOtherSecret
		}
	}
	return nil
}
