// Package secondfactor keeps the second factor of users: the secret of an
// authenticator app (TOTP, RFC 6238) and recovery codes. It knows neither
// passwords nor sessions, and does not limit how often a code is tried: package
// auth does.
//
//	key, err := store.Begin(ctx, user)            // the user scans key
//	codes, err := store.Confirm(ctx, user, "123456") // and shows a code of the app
//	err = store.Check(ctx, user, "654321")        // at each log-in
package secondfactor

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
)

// The refusals of this package.
var (
	// ErrCode reports a code that is wrong, too old, or was used.
	ErrCode = errors.New("secondfactor: the code is wrong or was used")
	// ErrEnabled reports a user who has a second factor already.
	ErrEnabled = apierr.New("secondfactor", apierr.Conflict, "the user has a second factor: remove it first")
	// ErrNone reports a user who has no second factor, or has not begun to set
	// one up.
	ErrNone = apierr.New("secondfactor", apierr.NotFound, "the user has no second factor")
)

const (
	recoveryCodes = 10
	secretBytes   = 20 // as long as SHA-1 is, which RFC 4226 advises
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package, which refer to the
// users of package auth.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "secondfactor", migrations)
}

// Store keeps second factors. It is safe for concurrent use.
type Store struct {
	db   *database.DB
	keys *keyring.Ring
	now  func() time.Time
}

// New returns a Store over db, whose tables [Migrate] has made. Secrets that
// were sealed under an older key are sealed again under the newest.
func New(ctx context.Context, db *database.DB, keys *keyring.Ring, now func() time.Time) (*Store, error) {
	s := &Store{db: db, keys: keys, now: now}
	if err := s.reseal(ctx); err != nil {
		return nil, fmt.Errorf("secondfactor: %w", err)
	}
	return s, nil
}

// State is what there is of a user's second factor.
type State struct {
	Enabled       bool
	Since         time.Time // zero: not enabled
	RecoveryCodes int       // how many are left
}

// factor is a row of secondfactor_totp.
type factor struct {
	User      string `db:"user_id"`
	Secret    string `db:"secret"`
	Confirmed int64  `db:"confirmed_us"`
	Last      int64  `db:"last_step"`
}

// State says whether a user has a second factor.
func (s *Store) State(ctx context.Context, user string) (State, error) {
	var row struct {
		Confirmed int64 `db:"confirmed_us"`
		Left      int   `db:"codes_left"`
	}
	err := s.db.GetContext(ctx, &row, `SELECT confirmed_us, (SELECT count(*) FROM secondfactor_recovery r WHERE r.user_id = t.user_id) AS codes_left
		FROM secondfactor_totp t WHERE user_id = $1 AND confirmed_us > 0`, user)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return State{}, nil
	case err != nil:
		return State{}, fmt.Errorf("reading a second factor: %w", err)
	}
	return State{Enabled: true, Since: database.Time(row.Confirmed), RecoveryCodes: row.Left}, nil
}

// Begin makes a secret for an authenticator app, in base32. It counts once
// [Store.Confirm] has seen a code; until then a second call replaces it. It
// returns [ErrEnabled] when the user has a second factor.
func (s *Store) Begin(ctx context.Context, user string) (string, error) {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		changed, err := rows(tx.ExecContext(ctx, `INSERT INTO secondfactor_totp (user_id, secret) VALUES ($1, $2)
			ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret WHERE secondfactor_totp.confirmed_us = 0`,
			user, s.keys.Seal(place(user), secret)))
		if err == nil && changed == 0 {
			err = ErrEnabled
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("beginning a second factor: %w", err)
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret), nil
}

// ConfirmTx makes the secret of [Store.Begin] count, given a code that an app
// made of it, and returns recovery codes, which are shown only now. It returns
// [ErrCode], [ErrEnabled] or [ErrNone] when that is refused.
func (s *Store) ConfirmTx(ctx context.Context, tx *database.Tx, user, code string) ([]string, error) {
	f, err := s.factorTx(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	if f.Confirmed != 0 {
		return nil, ErrEnabled
	}
	step, err := s.step(f, code)
	if err != nil {
		return nil, err
	}
	changed, err := rows(tx.ExecContext(ctx, `UPDATE secondfactor_totp SET confirmed_us = $1, last_step = $2 WHERE user_id = $3 AND confirmed_us = 0 AND secret = $4`,
		database.Micros(s.now()), step, user, f.Secret))
	if err != nil {
		return nil, fmt.Errorf("confirming a second factor: %w", err)
	}
	if changed == 0 {
		return nil, ErrEnabled
	}
	return s.RecoveryCodesTx(ctx, tx, user)
}

// Check says whether a code is one that the user's app shows now, and was not
// used, or a recovery code, which is used up. It returns [ErrCode] when it is
// neither, and [ErrNone] when the user has no second factor.
func (s *Store) Check(ctx context.Context, user, code string) error {
	return s.db.Write(ctx, func(tx *database.Tx) error {
		f, err := s.factorTx(ctx, tx, user)
		if err != nil {
			return err
		}
		if f.Confirmed == 0 {
			return ErrNone
		}
		used, err := s.useTx(ctx, tx, f, code)
		if err == nil && used != 1 {
			err = ErrCode
		}
		return err
	})
}

// useTx marks a code as used and returns how many there were: another request
// may have been faster.
func (s *Store) useTx(ctx context.Context, tx *database.Tx, f factor, code string) (int64, error) {
	step, err := s.step(f, code)
	if err == nil {
		return rows(tx.ExecContext(ctx, `UPDATE secondfactor_totp SET last_step = $1 WHERE user_id = $2 AND last_step < $1`, step, f.User))
	}
	if !errors.Is(err, ErrCode) {
		return 0, err
	}
	return rows(tx.ExecContext(ctx, `DELETE FROM secondfactor_recovery WHERE user_id = $1 AND hash = $2`, f.User, hash(code)))
}

// RecoveryCodesTx replaces the recovery codes of a user, and returns the new
// ones.
func (s *Store) RecoveryCodesTx(ctx context.Context, tx *database.Tx, user string) ([]string, error) {
	if _, err := tx.ExecContext(ctx, `DELETE FROM secondfactor_recovery WHERE user_id = $1`, user); err != nil {
		return nil, fmt.Errorf("replacing recovery codes: %w", err)
	}
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = newCode()
		if _, err := tx.ExecContext(ctx, `INSERT INTO secondfactor_recovery (user_id, hash) VALUES ($1, $2)`, user, hash(codes[i])); err != nil {
			return nil, fmt.Errorf("making recovery codes: %w", err)
		}
	}
	return codes, nil
}

// RemoveTx takes the second factor of a user away, and returns [ErrNone] when
// there is none.
func (s *Store) RemoveTx(ctx context.Context, tx *database.Tx, user string) error {
	return RemoveTx(ctx, tx, user)
}

// RemoveTx is [Store.RemoveTx] for an operator, who has no key.
func RemoveTx(ctx context.Context, tx *database.Tx, user string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM secondfactor_recovery WHERE user_id = $1`, user); err != nil {
		return fmt.Errorf("removing recovery codes: %w", err)
	}
	changed, err := rows(tx.ExecContext(ctx, `DELETE FROM secondfactor_totp WHERE user_id = $1`, user))
	if err == nil && changed == 0 {
		err = ErrNone
	}
	return err
}

func (s *Store) factorTx(ctx context.Context, tx *database.Tx, user string) (factor, error) {
	var f factor
	err := tx.GetContext(ctx, &f, `SELECT user_id, secret, confirmed_us, last_step FROM secondfactor_totp WHERE user_id = $1`, user)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return f, ErrNone
	case err != nil:
		return f, fmt.Errorf("reading a second factor: %w", err)
	}
	return f, nil
}

// step is the step of time at which an app shows code.
func (s *Store) step(f factor, code string) (int64, error) {
	secret, err := s.keys.Open(place(f.User), f.Secret)
	if err != nil {
		return 0, fmt.Errorf("opening a second factor: %w", err)
	}
	step, ok := stepOf(secret, digits(code), s.now(), f.Last)
	if !ok {
		return 0, ErrCode
	}
	return step, nil
}

// reseal seals what an older key has sealed.
func (s *Store) reseal(ctx context.Context) error {
	var old []factor
	err := s.db.SelectContext(ctx, &old, `SELECT user_id, secret, confirmed_us, last_step FROM secondfactor_totp WHERE substr(secret, 1, $1) <> $2`,
		len(s.keys.Prefix()), s.keys.Prefix())
	if err != nil {
		return fmt.Errorf("reading second factors: %w", err)
	}
	for _, f := range old {
		secret, err := s.keys.Open(place(f.User), f.Secret)
		if err != nil {
			continue // its secret was dropped: the user needs another factor
		}
		err = s.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE secondfactor_totp SET secret = $1 WHERE user_id = $2 AND secret = $3`,
				s.keys.Seal(place(f.User), secret), f.User, f.Secret)
			return err
		})
		if err != nil {
			return fmt.Errorf("sealing a second factor again: %w", err)
		}
	}
	return nil
}

// place binds a sealed secret to its row.
func place(user string) string { return "secondfactor_totp:" + user + ":secret" }

// newCode is a recovery code: 80 random bits, which need neither key nor salt
// to be stored as a hash.
func newCode() string {
	b := make([]byte, 10)
	_, _ = rand.Read(b) // never fails
	s := strings.ToLower(base32.StdEncoding.EncodeToString(b))
	return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
}

// hash is what is stored of a recovery code, however it is typed.
func hash(code string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(code))
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

func rows(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
