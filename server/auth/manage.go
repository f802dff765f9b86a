package auth

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

// Create adds a user with permissions, or the role of n, to the account of
// by, who must have them. It returns [Invalid], [ErrGrant], [ErrOwner] or
// [ErrEmailTaken] when that is refused.
func (s *Users) Create(ctx context.Context, by Caller, n NewUser, permissions []Permission) (User, error) {
	if err := n.check(); err != nil {
		return User{}, err
	}
	owner, permissions, err := rights(n.Role, permissions)
	if err != nil {
		return User{}, err
	}
	if err := s.checkReferences(ctx, by.Account, permissions, nil); err != nil {
		return User{}, err
	}
	if err := grants(by, owner, permissions); err != nil {
		return User{}, err
	}
	u, err := s.newRow(ctx, n, by.Account, owner, permissions)
	if err != nil {
		return User{}, err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		now, err := managerTx(ctx, tx, by)
		if err != nil {
			return err
		}
		if err := grants(now, owner, permissions); err != nil {
			return err
		}
		if err := insertUser(ctx, tx, u); err != nil {
			return err
		}
		return recordUserTx(ctx, tx, audit.UserCreate, u, map[string]any{"permissions": permissions})
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
	Password    *string      // ends the user's tokens and cookie sessions
	Permissions []Permission // needs [UsersManage]; less than all makes an owner a user like others
	Role        Role         // instead of Permissions; "": it stays
	Disabled    *bool        // needs [UsersManage]; true: the user may not log in, and the sessions are refused

	// CurrentPassword is required to change one's own e-mail or password.
	CurrentPassword string
	Address         netip.Addr // of the client; wrong passwords are counted by it
}

// Update changes a user of the account of by: the caller, or with
// [UsersManage] a user who has no permission that by lacks and is no owner
// unless by is one. It returns [ErrForbidden], [ErrNotFound], [Invalid],
// [ErrGrant], [ErrOwner], [ErrEmailTaken] or [ErrLastOwner] when that is
// refused.
func (s *Users) Update(ctx context.Context, by Caller, id string, ch UserChange) (User, error) {
	if !by.Can(UsersManage) && (id != by.User || ch.manages()) {
		return User{}, ErrForbidden
	}
	if err := ch.check(); err != nil {
		return User{}, err
	}
	u, err := s.member(ctx, by.Account, id)
	if err != nil {
		return User{}, err
	}
	if err := ch.checkPasswordOf(u); err != nil {
		return User{}, err
	}
	if err := s.checkReferences(ctx, by.Account, ch.Permissions, u.rights()); err != nil {
		return User{}, err
	}
	if id == by.User && ch.takesOver() {
		if err := s.confirm(ctx, by, ch); err != nil {
			return User{}, err
		}
	}
	password := ""
	if ch.Password != nil {
		h, err := s.passwords.hashes.of(ctx, *ch.Password)
		if err != nil {
			return User{}, err
		}
		password = h.String()
	}
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if u, err = s.updateTx(ctx, tx, by, id, ch, password); err != nil {
			return err
		}
		return recordUserTx(ctx, tx, audit.UserUpdate, u, ch.details())
	})
	if database.IsUnique(err) {
		return User{}, ErrEmailTaken
	}
	if err != nil {
		return User{}, fmt.Errorf("changing a user: %w", err)
	}
	return u.user(), nil
}

// manages says whether a change needs [UsersManage] also for oneself.
func (ch *UserChange) manages() bool {
	return ch.Permissions != nil || ch.Role != "" || ch.Disabled != nil
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
		if err := CheckPassword(*ch.Password); err != nil {
			return err
		}
	}
	if ch.Permissions != nil || ch.Role != "" {
		_, ch.Permissions, err = rights(ch.Role, ch.Permissions)
	}
	return err
}

// checkPasswordOf refuses a new password that says no more than what is known
// of its user, before and after the change.
func (ch *UserChange) checkPasswordOf(u userRow) error {
	if ch.Password == nil {
		return nil
	}
	about := []string{u.Email, u.Name}
	for _, fresh := range []*string{ch.Email, ch.Name} {
		if fresh != nil {
			about = append(about, *fresh)
		}
	}
	return CheckPassword(*ch.Password, about...)
}

// confirm has users show their password before they change it or their e-mail.
func (s *Users) confirm(ctx context.Context, by Caller, ch UserChange) error {
	if ch.CurrentPassword == "" {
		return &Invalid{Field: "currentPassword", Message: "is required to change your own e-mail or password"}
	}
	err := s.ConfirmPassword(ctx, by, ch.CurrentPassword, ch.Address)
	if _, wrong := err.(*Invalid); wrong { //nolint:errorlint // it is returned as it is
		return &Invalid{Field: "currentPassword", Message: "is not the current password"}
	}
	return err
}

// updateTx makes a change after the rules were held against what is stored.
func (s *Users) updateTx(ctx context.Context, tx *database.Tx, by Caller, id string, ch UserChange, password string) (userRow, error) {
	if err := lockAccount(ctx, tx, by.Account); err != nil {
		return userRow{}, err
	}
	by, err := nowTx(ctx, tx, by)
	if err != nil {
		return userRow{}, err
	}
	u, err := memberTx(ctx, tx, by.Account, id)
	if err != nil {
		return u, err
	}
	if err := ch.permit(ctx, tx, by, u); err != nil {
		return u, err
	}
	ch.apply(&u)
	if ch.Disabled != nil && *ch.Disabled != (u.Disabled != 0) {
		u.Disabled = since(*ch.Disabled, s.now())
	}
	if password != "" {
		u.Password = password
		u.Version++
	}
	_, err = tx.ExecContext(ctx, `UPDATE auth_user SET email = $1, name = $2, password = $3, permissions = $4, version = $5,
		owner = $6, disabled_us = $7 WHERE id = $8`,
		u.Email, u.Name, u.Password, u.Permissions, u.Version, u.Owner, u.Disabled, u.ID)
	if err != nil || !ch.takesOver() {
		return u, err
	}
	if password == "" {
		return u, endResets(ctx, tx, u.ID) // they went to another e-mail
	}
	return u, endAccess(ctx, tx, u.ID)
}

// permit refuses a change of a user who has more rights than by, one that gives
// rights that by lacks, and one that leaves the account without an owner.
func (ch *UserChange) permit(ctx context.Context, tx *database.Tx, by Caller, u userRow) error {
	if !by.Can(UsersManage) && (u.ID != by.User || ch.manages()) {
		return ErrForbidden
	}
	if err := above(by, u); err != nil {
		return err
	}
	if ch.Permissions != nil {
		has := u.rights()
		added := slices.DeleteFunc(slices.Clone(ch.Permissions), func(p Permission) bool { return Covers(has, p) })
		if err := grants(by, ch.Role == RoleOwner && !u.owns(), added); err != nil {
			return err
		}
	}
	if ch.owner(u) && !(ch.Disabled != nil && *ch.Disabled) {
		return nil
	}
	return anotherOwner(ctx, tx, u)
}

// owner says whether u is an owner after the change.
func (ch *UserChange) owner(u userRow) bool {
	switch {
	case ch.Role != "":
		return ch.Role == RoleOwner
	case ch.Permissions != nil:
		return u.owns() && slices.Equal(ch.Permissions, AllPermissions())
	}
	return u.owns()
}

func (ch *UserChange) apply(u *userRow) {
	if ch.Name != nil {
		u.Name = *ch.Name
	}
	if ch.Email != nil {
		u.Email = *ch.Email
	}
	u.Owner = flag(ch.owner(*u))
	if ch.Permissions != nil {
		u.Permissions = joinPermissions(ch.Permissions)
	}
}

// Delete deletes a user of the account of by. It returns [ErrForbidden],
// [ErrNotFound], [ErrGrant], [ErrOwner] or [ErrLastOwner] when that is refused.
func (s *Users) Delete(ctx context.Context, by Caller, id string) error {
	err := s.below(ctx, by, id, func(tx *database.Tx, u userRow) error {
		if err := anotherOwner(ctx, tx, u); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM auth_user WHERE id = $1`, id); err != nil {
			return err
		}
		return recordUserTx(ctx, tx, audit.UserDelete, u, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting a user: %w", err)
	}
	return nil
}

// endAccess ends every token, session and link of a user whose password has
// changed, and disconnects the identities at a provider: who had the old password
// may have connected one.
func endAccess(ctx context.Context, tx *database.Tx, user string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM auth_session WHERE user_id = $1`, user); err != nil {
		return fmt.Errorf("ending the sessions of a user: %w", err)
	}
	if err := oidc.UnlinkTx(ctx, tx, user); err != nil {
		return err
	}
	return endResets(ctx, tx, user)
}

func endResets(ctx context.Context, tx *database.Tx, user string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM auth_reset WHERE user_id = $1`, user); err != nil {
		return fmt.Errorf("ending the links of a user: %w", err)
	}
	return nil
}
