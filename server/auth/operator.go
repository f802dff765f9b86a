package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Operator manages the users of all accounts for who has the database: nobody
// is asked whether he may, and no secret is needed. What it changes holds
// within two seconds on a server that runs.
type Operator struct{ s *Service }

// NewOperator returns an Operator of db, whose tables [Migrate] has made.
func NewOperator(ctx context.Context, db *sqlx.DB) (*Operator, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	return &Operator{&Service{db: d, hashes: make(chan struct{}, 1), opts: Options{Cost: Cost{}.withDefaults(), Now: time.Now}}}, nil
}

// Users are all users, the oldest first.
func (o *Operator) Users(ctx context.Context) ([]User, error) {
	var rows []userRow
	if err := o.s.db.SelectContext(ctx, &rows, `SELECT `+userColumns+` FROM auth_user ORDER BY seq`); err != nil {
		return nil, fmt.Errorf("listing users: %w", err)
	}
	users := make([]User, len(rows))
	for i, r := range rows {
		users[i] = r.user()
	}
	return users, nil
}

// Create adds a user with permissions to an account; nil means all. "" makes an
// account of his own, as a sign-up does. It returns [Invalid], [ErrEmailTaken],
// or [ErrNotFound] when there is no such account.
func (o *Operator) Create(ctx context.Context, account string, n NewUser, permissions []Permission) (User, error) {
	if err := n.check(); err != nil {
		return User{}, err
	}
	if permissions == nil {
		permissions = AllPermissions()
	}
	permissions, err := normalPermissions(permissions)
	if err != nil {
		return User{}, err
	}
	own := account == ""
	if own {
		id, err := uuid.NewV7()
		if err != nil {
			return User{}, fmt.Errorf("making an account id: %w", err)
		}
		account = id.String()
	}
	u, err := o.s.newRow(ctx, n, account, permissions)
	if err != nil {
		return User{}, err
	}
	err = o.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		enter := lockAccount
		if own {
			enter = func(ctx context.Context, tx *sqlx.Tx, _ string) error { return o.s.insertAccount(ctx, tx, u) }
		}
		if err := enter(ctx, tx, account); err != nil {
			return err
		}
		return insertUser(ctx, tx, u)
	})
	if err != nil {
		return User{}, fmt.Errorf("creating a user: %w", err)
	}
	return u.user(), nil
}

// SetPassword gives a user another password, and ends his tokens, cookie
// sessions and links. It returns [Invalid], or [ErrNotFound].
func (o *Operator) SetPassword(ctx context.Context, email, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	u, err := o.find(ctx, email)
	if err != nil {
		return err
	}
	h, err := o.s.newHash(ctx, password)
	if err != nil {
		return err
	}
	err = o.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE auth_user SET password = $1, version = version + 1 WHERE id = $2`, h.String(), u.ID); err != nil {
			return err
		}
		return endAccess(ctx, tx, u.ID)
	})
	if err != nil {
		return fmt.Errorf("setting a password: %w", err)
	}
	return nil
}

// SetDisabled keeps a user from logging in, and his tokens and cookie sessions
// from being valid, or ends that. It returns [ErrNotFound].
func (o *Operator) SetDisabled(ctx context.Context, email string, disabled bool) error {
	u, err := o.find(ctx, email)
	if err != nil || disabled == (u.Disabled != 0) {
		return err
	}
	var at int64
	if disabled {
		at = database.Micros(o.s.opts.Now())
	}
	err = o.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE auth_user SET disabled_us = $1 WHERE id = $2`, at, u.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("disabling a user: %w", err)
	}
	return nil
}

func (o *Operator) find(ctx context.Context, email string) (userRow, error) {
	email, err := normalEmail(email)
	if err != nil {
		return userRow{}, err
	}
	return o.s.row(ctx, "email", email)
}
