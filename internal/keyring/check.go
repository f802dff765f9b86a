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

// Check compares the ring with the check value in the database, whose table
// [Migrate] creates. It stores the value of the first secret if there is none or if
// the value is that of a later secret. It returns [ErrOtherSecret] if none of the
// secrets matches.
func (r *Ring) Check(ctx context.Context, db *sqlx.DB) error {
	d, err := database.Of(ctx, db)
	if err != nil {
		return err
	}
	err = d.InTx(ctx, func(tx *database.Tx) error {
		want := base64.RawURLEncoding.EncodeToString(r.MAC("check", nil))
		// The update changes nothing, but locks the row and returns it.
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

// Matches is like [Ring.Check] but changes nothing: a database without a value
// matches every secret.
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
