package auth

import (
	"context"
	"database/sql"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// NewUser is a request to make a user.
type NewUser struct {
	Email    string
	Name     string // 1..200 characters
	Password string // see [CheckPassword]

	// Role is of [Service.CreateUser] and [Operator.Create] only: what the user
	// may do, instead of permissions. "": permissions say it.
	Role Role

	// Of a sign-up only, which is a login, too: the address of the client, what
	// it calls itself, and whether a cookie session is wanted.
	Address netip.Addr
	Agent   string
	Cookie  bool
	Device  string // as in [Credentials]
}

const (
	maxEmail = 254 // what a mail server accepts
	maxName  = 200
)

// SignUp makes an account and its first user. It returns [Invalid],
// [ErrClosed] or [ErrEmailTaken] when that is refused.
//
// With Options.SendSignUp all but the first account of a server end with a
// link: a mail brings it, [Service.ConfirmSignUp] uses it, and the Session is
// the zero value. Then nothing says whether the e-mail is a user's. An address
// has ten such sign-ups an hour: more are [RateLimited].
func (s *Service) SignUp(ctx context.Context, n NewUser) (Session, error) {
	if err := n.check(); err != nil {
		return Session{}, err
	}
	if err := s.open(ctx); err != nil {
		return Session{}, err
	}
	switch confirms, err := s.confirms(ctx); {
	case err != nil:
		return Session{}, err
	case confirms:
		return Session{}, s.requestSignUp(ctx, n)
	}
	h, err := s.hashes.of(ctx, n.Password)
	if err != nil {
		return Session{}, err
	}
	u, err := s.ownerRow(n, h)
	if err != nil {
		return Session{}, err
	}
	if err := s.db.Write(ctx, func(tx *sqlx.Tx) error { return s.foundTx(ctx, tx, u, n) }); err != nil {
		return Session{}, fmt.Errorf("signing up: %w", err)
	}
	return s.begin(ctx, u, n)
}

// open returns [ErrClosed] on a server that takes no further account, before
// a password is hashed for nothing.
func (s *Service) open(ctx context.Context) error {
	if !s.opts.Closed {
		return nil
	}
	var accounts int
	if err := s.db.GetContext(ctx, &accounts, `SELECT count(*) FROM auth_account`); err != nil {
		return fmt.Errorf("counting accounts: %w", err)
	}
	if accounts > 0 {
		return ErrClosed
	}
	return nil
}

// check looks at all fields and puts them into their usual form.
func (n *NewUser) check() (err error) {
	if n.Email, err = normalEmail(n.Email); err != nil {
		return err
	}
	if n.Name, err = normalName(n.Name); err != nil {
		return err
	}
	return CheckPassword(n.Password, n.Email, n.Name)
}

// newRow is a user who was checked. It hashes the password, which takes
// longest and so comes last.
func (s *Service) newRow(ctx context.Context, n NewUser, account string, owner bool, ps []Permission) (userRow, error) {
	h, err := s.hashes.of(ctx, n.Password)
	if err != nil {
		return userRow{}, err
	}
	return s.hashedRow(n, h, account, owner, ps)
}

// ownerRow is the first user of a new account.
func (s *Service) ownerRow(n NewUser, h hash) (userRow, error) {
	account, err := uuid.NewV7()
	if err != nil {
		return userRow{}, fmt.Errorf("making an account id: %w", err)
	}
	return s.hashedRow(n, h, account.String(), true, AllPermissions())
}

func (s *Service) hashedRow(n NewUser, h hash, account string, owner bool, ps []Permission) (userRow, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return userRow{}, fmt.Errorf("making a user id: %w", err)
	}
	return userRow{
		ID: id.String(), Account: account, Email: n.Email, Name: n.Name, Password: h.String(),
		Permissions: joinPermissions(ps), Version: 1, Created: database.Micros(s.opts.Now()), Owner: flag(owner),
	}, nil
}

func (s *Service) insertAccount(ctx context.Context, tx *sqlx.Tx, u userRow) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO auth_account (id, created_us) VALUES ($1, $2)`, u.Account, u.Created); err != nil {
		return err
	}
	first, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_first (id, account_id) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, u.Account))
	if err == nil && s.opts.Closed && !first {
		err = ErrClosed
	}
	return err
}

func insertUser(ctx context.Context, tx *sqlx.Tx, u userRow) error {
	fresh, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us, owner)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (email) DO NOTHING`,
		u.ID, u.Account, u.Email, u.Name, u.Password, u.Permissions, u.Version, u.Created, u.Owner))
	if err == nil && !fresh {
		err = ErrEmailTaken
	}
	return err
}

// inserted says whether a statement changed a row.
func inserted(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// normalEmail is the form of an address that is unique among users.
func normalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > maxEmail {
		return "", &Invalid{Field: "email", Message: "must be an e-mail address"}
	}
	return s, nil
}

func normalName(s string) (string, error) {
	s = strings.TrimSpace(s)
	if l := utf8.RuneCountInString(s); l < 1 || l > maxName {
		return "", &Invalid{Field: "name", Message: fmt.Sprintf("must have 1 to %d characters", maxName)}
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", &Invalid{Field: "name", Message: "must be text without control characters"}
	}
	return s, nil
}
