package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
)

// Operator manages the users of all accounts. It is for the person who runs the
// server: it asks for no permission and needs no secret. What it changes holds
// at once on a server that runs.
type Operator struct{ users *Users }

// NewOperator returns an Operator of db, whose tables [Migrate] has made.
func NewOperator(ctx context.Context, db *sqlx.DB) (*Operator, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	p := &passwords{db: d, hashes: newHasher(Cost{}.withDefaults(), 1)}
	return &Operator{&Users{db: d, now: time.Now, passwords: p}}, nil
}

// Users are all users, the oldest first.
func (o *Operator) Users(ctx context.Context) ([]User, error) {
	var rows []userRow
	if err := o.users.db.SelectContext(ctx, &rows, `SELECT `+userColumns+` FROM auth_user ORDER BY seq`); err != nil {
		return nil, fmt.Errorf("listing users: %w", err)
	}
	users := make([]User, len(rows))
	for i, r := range rows {
		users[i] = r.user()
	}
	return users, nil
}

// Create adds a user with permissions, or the role of n, to an account; nil
// means all. "" makes an account, as a sign-up does: its user is its owner. It
// returns [Invalid], [ErrEmailTaken], or [ErrNotFound]
// when there is no such account.
func (o *Operator) Create(ctx context.Context, account string, n NewUser, permissions []Permission) (User, error) {
	if err := n.check(); err != nil {
		return User{}, err
	}
	own := account == ""
	if permissions == nil && n.Role == "" {
		n.Role = RoleAdmin
		if own {
			n.Role = RoleOwner
		}
	}
	owner, permissions, err := rights(n.Role, permissions)
	if err != nil {
		return User{}, err
	}
	if err := o.users.checkReferences(ctx, account, permissions, nil); err != nil {
		return User{}, err
	}
	if own {
		if !owner {
			return User{}, &Invalid{Field: "account", Message: "is required: the first user of a new account must be an owner"}
		}
		id, err := uuid.NewV7()
		if err != nil {
			return User{}, fmt.Errorf("making an account id: %w", err)
		}
		account = id.String()
	}
	u, err := o.users.newRow(ctx, n, account, owner, permissions)
	if err != nil {
		return User{}, err
	}
	err = o.users.db.Write(ctx, func(tx *database.Tx) error {
		enter := lockAccount
		if own {
			enter = func(ctx context.Context, tx *database.Tx, _ string) error { return o.users.insertAccount(ctx, tx, u) }
		}
		if err := enter(ctx, tx, account); err != nil {
			return err
		}
		if err := insertUser(ctx, tx, u); err != nil {
			return err
		}
		ctx := asOperator(ctx, account)
		if own {
			if err := audit.RecordTx(ctx, tx, audit.Entry{Action: audit.AccountCreate, ObjectID: account}); err != nil {
				return err
			}
		}
		return recordUserTx(ctx, tx, audit.UserCreate, u, map[string]any{"permissions": permissions})
	})
	if err != nil {
		return User{}, fmt.Errorf("creating a user: %w", err)
	}
	return u.user(), nil
}

// SetPassword gives a user another password, and ends the user's tokens, cookie
// sessions and links. It returns [Invalid], or [ErrNotFound].
func (o *Operator) SetPassword(ctx context.Context, email, password string) error {
	u, err := o.find(ctx, email)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, u.Email, u.Name); err != nil {
		return err
	}
	h, err := o.users.passwords.hashes.of(ctx, password)
	if err != nil {
		return err
	}
	err = o.users.db.Write(ctx, func(tx *database.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE auth_user SET password = $1, version = version + 1 WHERE id = $2`, h.String(), u.ID); err != nil {
			return err
		}
		if err := endAccess(ctx, tx, u.ID); err != nil {
			return err
		}
		return recordUserTx(asOperator(ctx, u.Account), tx, audit.UserReset, u, nil)
	})
	if err != nil {
		return fmt.Errorf("setting a password: %w", err)
	}
	return nil
}

// SetDisabled keeps a user from logging in, and the user's tokens and cookie sessions
// from being valid, or ends that. It returns [ErrNotFound].
func (o *Operator) SetDisabled(ctx context.Context, email string, disabled bool) error {
	u, err := o.find(ctx, email)
	if err != nil || disabled == (u.Disabled != 0) {
		return err
	}
	at, action := int64(0), audit.UserEnable
	if disabled {
		at, action = database.Micros(o.users.now()), audit.UserDisable
	}
	err = o.users.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE auth_user SET disabled_us = $1 WHERE id = $2`, at, u.ID)
		if err != nil {
			return err
		}
		return recordUserTx(asOperator(ctx, u.Account), tx, action, u, nil)
	})
	if err != nil {
		return fmt.Errorf("disabling a user: %w", err)
	}
	return nil
}

// RemoveSecondFactor takes the second factor of a user away. It returns
// [ErrNotFound], or [secondfactor.ErrNone].
func (o *Operator) RemoveSecondFactor(ctx context.Context, email string) error {
	u, err := o.find(ctx, email)
	if err != nil {
		return err
	}
	return o.users.db.Write(ctx, func(tx *database.Tx) error {
		if err := secondfactor.RemoveTx(ctx, tx, u.ID); err != nil {
			return err
		}
		return recordFactorTx(asOperator(ctx, u.Account), tx, u.ID, u.Email, factorOf(false))
	})
}

func (o *Operator) find(ctx context.Context, email string) (userRow, error) {
	email, err := normalEmail(email)
	if err != nil {
		return userRow{}, err
	}
	return o.users.row(ctx, "email", email)
}
