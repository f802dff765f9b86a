package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// User is a person, or a program, that may log in.
type User struct {
	ID          string
	AccountID   string
	Email       string
	Name        string
	Permissions []Permission // never nil
	CreatedAt   time.Time
}

// NewUser is a request to sign up.
type NewUser struct {
	Email    string
	Name     string // 1..200 characters
	Password string // at least 10 characters
}

// Session is what a login gives.
type Session struct {
	Token     string // a JWT
	ExpiresAt time.Time
	User      User
}

const (
	maxEmail = 254 // what a mail server accepts
	maxName  = 200
)

// SignUp makes an account and its first user. It returns [Invalid],
// [ErrClosed] or [ErrEmailTaken] when that is refused.
func (s *Service) SignUp(ctx context.Context, n NewUser) (Session, error) {
	u, err := s.newRow(ctx, n)
	if err != nil {
		return Session{}, err
	}
	if err := s.db.Write(ctx, func(tx *sqlx.Tx) error { return s.insert(ctx, tx, u) }); err != nil {
		return Session{}, fmt.Errorf("signing up: %w", err)
	}
	return s.session(u)
}

// newRow checks a request and hashes its password, which takes longest and so
// comes last.
func (s *Service) newRow(ctx context.Context, n NewUser) (userRow, error) {
	email, err := normalEmail(n.Email)
	if err != nil {
		return userRow{}, err
	}
	name := strings.TrimSpace(n.Name)
	if l := utf8.RuneCountInString(name); l < 1 || l > maxName {
		return userRow{}, &Invalid{"name", fmt.Sprintf("must have 1 to %d characters", maxName)}
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return userRow{}, &Invalid{"name", "must be text without control characters"}
	}
	if err := checkPassword(n.Password); err != nil {
		return userRow{}, err
	}
	if s.opts.Closed {
		var accounts int
		if err := s.db.GetContext(ctx, &accounts, `SELECT count(*) FROM auth_account`); err != nil {
			return userRow{}, fmt.Errorf("counting accounts: %w", err)
		}
		if accounts > 0 {
			return userRow{}, ErrClosed
		}
	}
	h, err := s.newHash(ctx, n.Password)
	if err != nil {
		return userRow{}, err
	}
	account, err1 := uuid.NewV7()
	user, err2 := uuid.NewV7()
	if err := errors.Join(err1, err2); err != nil {
		return userRow{}, fmt.Errorf("making ids: %w", err)
	}
	return userRow{
		ID: user.String(), Account: account.String(), Email: email, Name: name, Password: h.String(),
		Permissions: joinPermissions(AllPermissions()), Version: 1, Created: database.Micros(s.opts.Now()),
	}, nil
}

func (s *Service) insert(ctx context.Context, tx *sqlx.Tx, u userRow) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO auth_account (id, created_us) VALUES ($1, $2)`, u.Account, u.Created); err != nil {
		return err
	}
	first, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_first (id, account_id) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, u.Account))
	if err != nil {
		return err
	}
	if s.opts.Closed && !first {
		return ErrClosed
	}
	fresh, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (email) DO NOTHING`,
		u.ID, u.Account, u.Email, u.Name, u.Password, u.Permissions, u.Version, u.Created))
	if err == nil && !fresh {
		err = ErrEmailTaken
	}
	return err
}

func inserted(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// User returns a user of an account, or [ErrNotFound].
func (s *Service) User(ctx context.Context, account, id string) (User, error) {
	u, err := s.row(ctx, "id", id)
	if err != nil {
		return User{}, err
	}
	if u.Account != account {
		return User{}, ErrNotFound
	}
	return u.user(), nil
}

func (s *Service) session(u userRow) (Session, error) {
	token, expires, err := s.tokens.issue(u)
	return Session{Token: token, ExpiresAt: expires, User: u.user()}, err
}

// userRow is a row of auth_user.
type userRow struct {
	ID          string `db:"id"`
	Account     string `db:"account_id"`
	Email       string `db:"email"`
	Name        string `db:"name"`
	Password    string `db:"password"`
	Permissions string `db:"permissions"`
	Version     int64  `db:"version"`
	Created     int64  `db:"created_us"`
}

func (u userRow) user() User {
	return User{
		ID: u.ID, AccountID: u.Account, Email: u.Email, Name: u.Name,
		Permissions: splitPermissions(u.Permissions), CreatedAt: database.Time(u.Created),
	}
}

// row finds a user by a unique column, or returns [ErrNotFound].
func (s *Service) row(ctx context.Context, column, value string) (userRow, error) {
	var u userRow
	err := s.db.GetContext(ctx, &u, `SELECT id, account_id, email, name, password, permissions, version, created_us
		FROM auth_user WHERE `+column+` = $1`, value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return u, ErrNotFound
	case err != nil:
		return u, fmt.Errorf("reading a user: %w", err)
	}
	return u, nil
}

// normalEmail is the form of an address that is unique among users.
func normalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > maxEmail {
		return "", &Invalid{"email", "must be an e-mail address"}
	}
	return s, nil
}
