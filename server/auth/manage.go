package auth

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// CreateUser adds a user to the account of by, who grants only what he has. It
// returns [Invalid], [ErrGrant] or [ErrEmailTaken] when that is refused.
func (s *Service) CreateUser(ctx context.Context, by Caller, n NewUser, permissions []Permission) (User, error) {
	if err := n.check(); err != nil {
		return User{}, err
	}
	permissions, err := normalPermissions(permissions)
	if err != nil {
		return User{}, err
	}
	if by.lacks(permissions) {
		return User{}, ErrGrant
	}
	u, err := s.newRow(ctx, n, by.Account, permissions)
	if err != nil {
		return User{}, err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		return insertUser(ctx, tx, u)
	})
	if err != nil {
		return User{}, fmt.Errorf("creating a user: %w", err)
	}
	return u.user(), nil
}

// UserChange changes a user; what is nil stays.
type UserChange struct {
	Name        *string
	Email       *string
	Password    *string      // ends his tokens and cookie sessions
	Permissions []Permission // needs [UsersManage]

	// CurrentPassword is required of who changes his own e-mail or password.
	CurrentPassword string
	Address         netip.Addr // of the client; wrong passwords are counted by it
}

// UpdateUser changes a user of the account of by: himself, or with
// [UsersManage] anybody. It returns [ErrForbidden], [ErrNotFound], [Invalid],
// [ErrGrant], [ErrEmailTaken] or [ErrLastManager] when that is refused.
//
// Who may set the password or the e-mail of another could log in as him. So he
// must have all the rights of the other, or it is an [ErrGrant].
func (s *Service) UpdateUser(ctx context.Context, by Caller, id string, ch UserChange) (User, error) {
	if !by.Can(UsersManage) && (id != by.User || ch.Permissions != nil) {
		return User{}, ErrForbidden
	}
	if err := ch.check(); err != nil {
		return User{}, err
	}
	u, err := s.member(ctx, by.Account, id)
	if err != nil {
		return User{}, err
	}
	if id == by.User && ch.takesOver() {
		if err := s.confirm(ctx, by, ch); err != nil {
			return User{}, err
		}
	}
	password := ""
	if ch.Password != nil {
		h, err := s.newHash(ctx, *ch.Password)
		if err != nil {
			return User{}, err
		}
		password = h.String()
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		u, err = updateTx(ctx, tx, by, id, ch, password)
		return err
	})
	s.users.drop(id)
	if database.IsUnique(err) {
		return User{}, ErrEmailTaken
	}
	if err != nil {
		return User{}, fmt.Errorf("changing a user: %w", err)
	}
	return u.user(), nil
}

// takesOver says whether a change gives its author the user's log-in.
func (ch *UserChange) takesOver() bool { return ch.Email != nil || ch.Password != nil }

// check looks at all fields and puts them into their usual form.
func (ch *UserChange) check() (err error) {
	if ch.Name != nil {
		name, err := normalName(*ch.Name)
		if err != nil {
			return err
		}
		ch.Name = &name
	}
	if ch.Email != nil {
		email, err := normalEmail(*ch.Email)
		if err != nil {
			return err
		}
		ch.Email = &email
	}
	if ch.Password != nil {
		if err := checkPassword(*ch.Password); err != nil {
			return err
		}
	}
	if ch.Permissions != nil {
		ch.Permissions, err = normalPermissions(ch.Permissions)
	}
	return err
}

// confirm has someone show his password before he changes it or his e-mail.
func (s *Service) confirm(ctx context.Context, by Caller, ch UserChange) error {
	if ch.CurrentPassword == "" {
		return &Invalid{"currentPassword", "is required to change one's own e-mail or password"}
	}
	err := s.ConfirmPassword(ctx, by, ch.CurrentPassword, ch.Address)
	if _, wrong := err.(*Invalid); wrong { //nolint:errorlint // it is returned as it is
		return &Invalid{"currentPassword", "is not the present password"}
	}
	return err
}

// updateTx makes a change after the rules were held against what is stored.
func updateTx(ctx context.Context, tx *sqlx.Tx, by Caller, id string, ch UserChange, password string) (userRow, error) {
	if err := lockAccount(ctx, tx, by.Account); err != nil {
		return userRow{}, err
	}
	var u userRow
	err := tx.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE id = $1 AND account_id = $2`, id, by.Account)
	if err := found(err); err != nil {
		return u, err
	}
	if err := ch.permit(ctx, tx, by, u); err != nil {
		return u, err
	}
	ch.apply(&u)
	if password != "" {
		u.Password = password
		u.Version++
	}
	_, err = tx.ExecContext(ctx, `UPDATE auth_user SET email = $1, name = $2, password = $3, permissions = $4, version = $5 WHERE id = $6`,
		u.Email, u.Name, u.Password, u.Permissions, u.Version, u.ID)
	if err != nil || !ch.takesOver() {
		return u, err
	}
	if password == "" {
		return u, endResets(ctx, tx, u.ID) // they went to another e-mail
	}
	return u, endAccess(ctx, tx, u.ID)
}

// permit refuses what would give someone rights that he lacks, or leave the
// account without anybody who manages users.
func (ch *UserChange) permit(ctx context.Context, tx *sqlx.Tx, by Caller, u userRow) error {
	has := splitPermissions(u.Permissions)
	if u.ID != by.User && ch.takesOver() && by.lacks(has) {
		return ErrGrant
	}
	if ch.Permissions == nil {
		return nil
	}
	added := slices.DeleteFunc(slices.Clone(ch.Permissions), func(p Permission) bool { return slices.Contains(has, p) })
	if by.lacks(added) {
		return ErrGrant
	}
	if slices.Contains(ch.Permissions, UsersManage) {
		return nil
	}
	return anotherManager(ctx, tx, u)
}

func (ch *UserChange) apply(u *userRow) {
	if ch.Name != nil {
		u.Name = *ch.Name
	}
	if ch.Email != nil {
		u.Email = *ch.Email
	}
	if ch.Permissions != nil {
		u.Permissions = joinPermissions(ch.Permissions)
	}
}

// DeleteUser deletes a user of the account of by. It returns [ErrNotFound] or
// [ErrLastManager] when that is refused.
func (s *Service) DeleteUser(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		var u userRow
		err := tx.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE id = $1 AND account_id = $2`, id, by.Account)
		if err := found(err); err != nil {
			return err
		}
		if err := anotherManager(ctx, tx, u); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM auth_user WHERE id = $1`, id)
		return err
	})
	s.users.drop(id)
	if err != nil {
		return fmt.Errorf("deleting a user: %w", err)
	}
	return nil
}

// lockAccount lets one change of an account's users pass at a time.
func lockAccount(ctx context.Context, tx *sqlx.Tx, account string) error {
	there, err := inserted(tx.ExecContext(ctx, `UPDATE auth_account SET created_us = created_us WHERE id = $1 AND closed_us = 0`, account))
	if err == nil && !there {
		err = ErrNotFound
	}
	return err
}

// anotherManager returns [ErrLastManager] when nobody but u may manage users.
func anotherManager(ctx context.Context, tx *sqlx.Tx, u userRow) error {
	if !slices.Contains(splitPermissions(u.Permissions), UsersManage) {
		return nil
	}
	var others []string
	err := tx.SelectContext(ctx, &others, `SELECT permissions FROM auth_user WHERE account_id = $1 AND id <> $2 AND disabled_us = 0`, u.Account, u.ID)
	if err != nil {
		return fmt.Errorf("reading the rights of an account's users: %w", err)
	}
	for _, column := range others {
		if slices.Contains(splitPermissions(column), UsersManage) {
			return nil
		}
	}
	return ErrLastManager
}

// endAccess ends every token, session and link of a user whose password has
// changed.
func endAccess(ctx context.Context, tx *sqlx.Tx, user string) error {
	for _, statement := range []string{
		`DELETE FROM auth_token WHERE user_id = $1`, `DELETE FROM auth_session WHERE user_id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, statement, user); err != nil {
			return fmt.Errorf("ending the sessions of a user: %w", err)
		}
	}
	return endResets(ctx, tx, user)
}

func endResets(ctx context.Context, tx *sqlx.Tx, user string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM auth_reset WHERE user_id = $1`, user); err != nil {
		return fmt.Errorf("ending the links of a user: %w", err)
	}
	return nil
}
