// Package passkey keeps the passkeys of users (WebAuthn Level 3): keys in a phone,
// a computer or a security key, which sign a challenge once their holder has shown
// a finger, a face or a PIN. So a passkey is two factors in one, and it names its
// user by itself.
//
// A ceremony takes two steps: the server makes a challenge, and the browser has an
// authenticator sign it. Challenges are in the database, so that any node may
// finish what another has begun. Each is good for one answer within
// [ChallengeTTL]. The package knows neither passwords nor sessions, and does not
// limit how often it is tried: package auth does.
//
//	site, err := passkey.SiteOf("https://example.org")
//	store := passkey.New(db, site, time.Now)
//	options, err := store.BeginAdd(ctx, user)      // for navigator.credentials.create
//	fresh, err := store.Verify(ctx, user, response) // and store.AddTx
//	options, err = store.BeginSignIn(ctx, address) // for navigator.credentials.get
//	shown, err := store.Read(ctx, response)        // and store.Prove, store.UseTx
package passkey

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
)

// The refusals of this package. [Copied] and [ErrSite] are others.
var (
	// ErrChallenge reports an answer to a challenge that was not made here, was
	// answered already, is over, or was made for another user.
	ErrChallenge = errors.New("passkey: the challenge is unknown, over, or was answered")
	// ErrResponse reports an answer that is none of an authenticator, or that does
	// not prove anything: signed for another site, by another key, or without
	// seeing its holder.
	ErrResponse = errors.New("passkey: the authenticator's answer is not valid")
	// ErrNone reports that there is no such passkey.
	ErrNone = apierr.New("passkey", apierr.NotFound, "there is no such passkey")
	// ErrFull reports a user who has [MaxPasskeys].
	ErrFull = apierr.New("passkey", apierr.Conflict, "the user has 20 passkeys, which is the maximum: remove one first")
	// ErrTaken reports a passkey that was added already.
	ErrTaken = apierr.New("passkey", apierr.Conflict, "this passkey was already added")
)

// Copied refuses a passkey whose counter of signatures has not gone on: another
// has signed with the same key.
type Copied struct {
	Name string // that its user gave it
}

func (e *Copied) Error() string { return "passkey: its counter went back: it may have been copied" }

const (
	// ChallengeTTL is how long a ceremony may take.
	ChallengeTTL = 5 * time.Minute
	// MaxPasskeys is how many passkeys a user has at most.
	MaxPasskeys = 20
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package, which refer to the users
// of package auth.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "passkey", migrations)
}

// Store keeps passkeys. It is safe for concurrent use.
type Store struct {
	db  *database.DB
	web *webauthn.WebAuthn // nil: passkeys are shown and removed, and no more
	now func() time.Time
}

// New returns a Store over db, whose tables [Migrate] has made. Without a site
// passkeys are shown and removed, and everything else returns [ErrSite].
func New(db *database.DB, site Site, now func() time.Time) (*Store, error) {
	s := &Store{db: db, now: now}
	if site == (Site{}) {
		return s, nil
	}
	timeout := webauthn.TimeoutConfig{Timeout: ChallengeTTL, TimeoutUVD: ChallengeTTL} // enforced here, by our clock
	var err error
	s.web, err = webauthn.New(&webauthn.Config{
		RPID: site.ID, RPDisplayName: "Trunkline", RPOrigins: []string{site.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: protocol.ResidentKeyRequired(), ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Password managers tell more than they were asked for, which changes nothing.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkey: %w", err)
	}
	return s, nil
}

// Available says whether passkeys can be added and used.
func (s *Store) Available() bool { return s.web != nil }

// Passkey is a passkey as its user sees it.
type Passkey struct {
	ID    string
	Name  string // that the user gave it
	Added time.Time
	Used  time.Time // zero: never
}

// row is a row of passkey_credential.
type row struct {
	ID     string `db:"id"`
	User   string `db:"user_id"`
	Name   string `db:"name"`
	Record string `db:"record"`
	Count  int64  `db:"sign_count"`
	Added  int64  `db:"added_us"`
	Used   int64  `db:"used_us"`
}

const columns = `id, user_id, name, record, sign_count, added_us, used_us`

func (r row) passkey() Passkey {
	p := Passkey{ID: r.ID, Name: r.Name, Added: database.Time(r.Added)}
	if r.Used != 0 {
		p.Used = database.Time(r.Used)
	}
	return p
}

// List returns the passkeys of a user, the oldest first.
func (s *Store) List(ctx context.Context, user string) ([]Passkey, error) {
	rows, err := s.rows(ctx, user)
	out := make([]Passkey, len(rows))
	for i, r := range rows {
		out[i] = r.passkey()
	}
	return out, err
}

func (s *Store) rows(ctx context.Context, user string) (rows []row, err error) {
	err = s.db.SelectContext(ctx, &rows, `SELECT `+columns+` FROM passkey_credential WHERE user_id = $1 ORDER BY added_us, id`, user)
	if err != nil {
		return nil, fmt.Errorf("listing passkeys: %w", err)
	}
	return rows, nil
}

// RemoveTx takes a passkey of a user away, and returns its name, or [ErrNone].
func (s *Store) RemoveTx(ctx context.Context, tx *database.Tx, user, id string) (name string, err error) {
	err = tx.GetContext(ctx, &name, `DELETE FROM passkey_credential WHERE id = $1 AND user_id = $2 RETURNING name`, id, user)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", ErrNone
	case err != nil:
		return "", fmt.Errorf("removing a passkey: %w", err)
	}
	return name, nil
}

// RemoveAllTx takes all passkeys of a user away, and returns how many there were,
// or [ErrNone].
func (s *Store) RemoveAllTx(ctx context.Context, tx *database.Tx, user string) (int64, error) {
	n, err := affected(tx.ExecContext(ctx, `DELETE FROM passkey_credential WHERE user_id = $1`, user))
	switch {
	case err != nil:
		return 0, fmt.Errorf("removing passkeys: %w", err)
	case n == 0:
		return 0, ErrNone
	}
	return n, nil
}

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
