package passkey

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// How many challenges a user, and an address, has at once. A further one takes
// the place of the oldest: who begins again and again fills no table.
const (
	userChallenges    = 5
	addressChallenges = 100
)

// keep remembers a challenge of a user who adds a passkey, or with "" of one
// at an address.
func (s *Store) keep(ctx context.Context, challenge, user, address string) error {
	asker, limit := "user "+user, userChallenges
	if user == "" {
		asker, limit = "from "+address, addressChallenges
	}
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM passkey_challenge WHERE asker = $1 AND hash NOT IN (
			SELECT hash FROM passkey_challenge WHERE asker = $1 ORDER BY expires_us DESC, hash LIMIT $2)`, asker, limit-1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO passkey_challenge (hash, user_id, asker, expires_us) VALUES ($1, $2, $3, $4)`,
			hash(challenge), sql.NullString{String: user, Valid: user != ""}, asker, database.Micros(s.now().Add(ChallengeTTL)))
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping a challenge: %w", err)
	}
	return nil
}

// take uses a challenge up. It returns [ErrChallenge] when it is not one of the
// user, or with "" of one who signs in, or is over.
func (s *Store) take(ctx context.Context, challenge, user string) error {
	var expires int64
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		return tx.GetContext(ctx, &expires, `DELETE FROM passkey_challenge WHERE hash = $1 AND COALESCE(user_id, '') = $2 RETURNING expires_us`,
			hash(challenge), user)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrChallenge
	case err != nil:
		return fmt.Errorf("taking a challenge: %w", err)
	case database.Micros(s.now()) >= expires:
		return ErrChallenge
	}
	return nil
}

// SweepTx deletes the challenges that are over.
func SweepTx(ctx context.Context, tx *database.Tx, now time.Time) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM passkey_challenge WHERE expires_us <= $1`, database.Micros(now))
	return err
}

// hash is what is stored of a challenge.
func hash(challenge string) string {
	sum := sha256.Sum256([]byte(challenge))
	return hex.EncodeToString(sum[:])
}
