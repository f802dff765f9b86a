package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// User is a person, or a program, that may log in.
type User struct {
	ID          string
	AccountID   string
	Email       string
	Name        string
	Permissions []Permission // never nil
	Role        Role         // "": another set of permissions
	CreatedAt   time.Time
	Disabled    bool // may not log in; tokens are not valid meanwhile
}

// Session is what a login gives.
type Session struct {
	Token     string // a JWT
	ExpiresAt time.Time
	User      User
	Cookie    string // of the cookie session; "": none was wanted
	Device    string // by which the browser is known at the next log-in, for [DeviceTTL]; "": no cookie was wanted
}

// Users keeps the users of accounts. It is safe for concurrent use.
type Users struct {
	db            *database.DB
	now           func() time.Time
	passwords     *passwords
	closed        bool                                                                 // only the first account signs up
	hasReferences func(ctx context.Context, account string, ids []int64) (bool, error) // nil: no account has any
}

// Get returns a user of an account, or [ErrNotFound].
func (s *Users) Get(ctx context.Context, account, id string) (User, error) {
	u, err := s.member(ctx, account, id)
	return u.user(), err
}

// List bounds a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]

// List returns a page of the users of an account, the oldest first.
func (s *Users) List(ctx context.Context, account string, l List) (Page[User], error) {
	return page.Select(ctx, s.db, l, "users", func(u userRow) int64 { return u.Seq }, userRow.user,
		`SELECT `+userColumns+` FROM auth_user WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`, account)
}

// Count says how many users an account has.
func (s *Users) Count(ctx context.Context, account string) (int64, error) {
	var n int64
	if err := s.db.GetContext(ctx, &n, `SELECT count(*) FROM auth_user WHERE account_id = $1`, account); err != nil {
		return 0, fmt.Errorf("counting users: %w", err)
	}
	return n, nil
}

// userRow is a row of auth_user.
type userRow struct {
	Seq         int64  `db:"seq"`
	ID          string `db:"id"`
	Account     string `db:"account_id"`
	Email       string `db:"email"`
	Name        string `db:"name"`
	Password    string `db:"password"`
	Permissions string `db:"permissions"`
	Version     int64  `db:"version"`
	Created     int64  `db:"created_us"`
	Disabled    int64  `db:"disabled_us"`
	Owner       int64  `db:"owner"`
}

const userColumns = `seq, id, account_id, email, name, password, permissions, version, created_us, disabled_us, owner`

func (u userRow) user() User {
	return User{
		ID: u.ID, AccountID: u.Account, Email: u.Email, Name: u.Name,
		Permissions: u.rights(), Role: roleOf(u.owns(), u.rights()), CreatedAt: database.Time(u.Created), Disabled: u.Disabled != 0,
	}
}

// owns says whether the user is an owner of the account.
func (u userRow) owns() bool { return u.Owner != 0 }

// rights are the permissions of the user. An owner has also those that came
// with a newer version.
func (u userRow) rights() []Permission {
	if u.owns() {
		return AllPermissions()
	}
	return splitPermissions(u.Permissions)
}

// notClosed is the condition that the account of a user was not closed: its users
// are erased one after the other.
const notClosed = ` AND NOT EXISTS (SELECT 1 FROM auth_account a WHERE a.id = auth_user.account_id AND a.closed_us > 0)`

// row finds a user by a unique column, or returns [ErrNotFound].
func (s *Users) row(ctx context.Context, column, value string) (userRow, error) {
	var u userRow
	err := s.db.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE `+column+` = $1`+notClosed, value)
	return u, found(err)
}

// member finds a user of an account, or returns [ErrNotFound].
func (s *Users) member(ctx context.Context, account, id string) (userRow, error) {
	u, err := s.row(ctx, "id", id)
	if err == nil && u.Account != account {
		return userRow{}, ErrNotFound
	}
	return u, err
}

func found(err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("reading a user: %w", err)
	}
	return nil
}
