package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// lockAccount lets one change of an account's users pass at a time.
func lockAccount(ctx context.Context, tx *database.Tx, account string) error {
	there, err := inserted(tx.ExecContext(ctx, `UPDATE auth_account SET created_us = created_us WHERE id = $1 AND closed_us = 0`, account))
	if err == nil && !there {
		err = ErrNotFound
	}
	return err
}

// nowTx is a caller with the rights that are stored now. It follows
// [lockAccount]: another change may have taken some of them since the caller
// was authenticated. It returns [ErrToken] when the user is gone or disabled.
func nowTx(ctx context.Context, tx *database.Tx, by Caller) (Caller, error) {
	u, err := memberTx(ctx, tx, by.Account, by.User)
	if errors.Is(err, ErrNotFound) || err == nil && u.Disabled != 0 {
		return Caller{}, ErrToken
	}
	if err != nil {
		return Caller{}, err
	}
	by.Permissions, by.Owner = Effective(u.rights(), by.Permissions), by.Owner && u.owns()
	return by, nil
}

// managerTx is [nowTx] for what needs [UsersManage]: without it, it returns
// [ErrForbidden].
func managerTx(ctx context.Context, tx *database.Tx, by Caller) (Caller, error) {
	by, err := nowTx(ctx, tx, by)
	if err == nil && !by.Can(UsersManage) {
		err = ErrForbidden
	}
	return by, err
}

// memberTx finds a user of an account, or returns [ErrNotFound].
func memberTx(ctx context.Context, tx *database.Tx, account, id string) (userRow, error) {
	var u userRow
	err := tx.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE id = $1 AND account_id = $2`, id, account)
	return u, found(err)
}

// above returns [ErrOwner] or [ErrGrant] when the caller must not change u:
// only an owner changes an owner, and no one a user with a permission that the
// caller lacks.
func above(by Caller, u userRow) error {
	switch {
	case u.ID == by.User:
		return nil
	case u.owns() && !by.Owner:
		return ErrOwner
	case by.missing(u.rights()):
		return ErrGrant
	}
	return nil
}

// grants returns [ErrOwner] or [ErrGrant] when the caller must not give ps to
// a user, or make the user an owner.
func grants(by Caller, owner bool, ps []Permission) error {
	switch {
	case owner && !by.Owner:
		return ErrOwner
	case by.missing(ps):
		return ErrGrant
	}
	return nil
}

// anotherOwner returns [ErrLastOwner] when u is an owner and no other owner of
// the account may log in.
func anotherOwner(ctx context.Context, tx *database.Tx, u userRow) error {
	if !u.owns() {
		return nil
	}
	var others int
	err := tx.GetContext(ctx, &others,
		`SELECT count(*) FROM auth_user WHERE account_id = $1 AND id <> $2 AND owner = 1 AND disabled_us = 0`, u.Account, u.ID)
	if err != nil {
		return fmt.Errorf("counting the owners of an account: %w", err)
	}
	if others == 0 {
		return ErrLastOwner
	}
	return nil
}

// SetOwner makes a user an owner of the account, whatever owners there are. It
// returns [ErrNotFound].
func (o *Operator) SetOwner(ctx context.Context, email string) error {
	u, err := o.find(ctx, email)
	if err != nil {
		return err
	}
	err = o.users.db.Write(ctx, func(tx *database.Tx) error {
		if err := lockAccount(ctx, tx, u.Account); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE auth_user SET owner = 1, permissions = $1 WHERE id = $2`, joinPermissions(AllPermissions()), u.ID)
		if err != nil {
			return err
		}
		details := audit.Changed("role")
		details["role"] = RoleOwner
		return recordUserTx(asOperator(ctx, u.Account), tx, audit.UserUpdate, u, details)
	})
	if err != nil {
		return fmt.Errorf("making an owner: %w", err)
	}
	return nil
}

// flag is a column that is 0 or 1.
func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// since is a column with a time that is 0 while nothing holds.
func since(on bool, now time.Time) int64 {
	if on {
		return database.Micros(now)
	}
	return 0
}
