package oidc

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the table of identities, which refers to the users
// of package auth.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "oidc", migrations)
}

// UserTx is the user here that an identity is, or "".
func UserTx(ctx context.Context, tx *database.Tx, id Identity) (user string, err error) {
	err = tx.GetContext(ctx, &user, `SELECT user_id FROM oidc_identity WHERE issuer = $1 AND subject = $2`, id.Issuer, id.Subject)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("looking for an identity: %w", err)
	}
	return user, nil
}

// UnlinkTx forgets whom a provider has named as a user.
func UnlinkTx(ctx context.Context, tx *database.Tx, user string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM oidc_identity WHERE user_id = $1`, user); err != nil {
		return fmt.Errorf("forgetting the identities of a user: %w", err)
	}
	return nil
}

// LinkTx remembers that an identity is a user, and says whether it is: it may be
// another one already.
func LinkTx(ctx context.Context, tx *database.Tx, id Identity, user string, now time.Time) (bool, error) {
	_, err := tx.ExecContext(ctx, `INSERT INTO oidc_identity (issuer, subject, user_id, created_us) VALUES ($1, $2, $3, $4)
		ON CONFLICT (issuer, subject) DO NOTHING`, id.Issuer, id.Subject, user, database.Micros(now))
	if err != nil {
		return false, fmt.Errorf("remembering an identity: %w", err)
	}
	is, err := UserTx(ctx, tx, id)
	return is == user, err
}
