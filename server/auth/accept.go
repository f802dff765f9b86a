package auth

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Accept makes the user that a link invites, with a name and a password of
// their own, also on a server whose sign-up is closed. The link works once. It
// returns [Invalid], of the field token when the link is not, or no longer,
// valid: it has ended, the inviter may no longer give what it gives, or the
// e-mail is a user's by now.
func (s *Service) Accept(ctx context.Context, token string, n NewUser) (Session, error) {
	hash, void := hashOpaque(token), &Invalid{Field: "token", Message: "is not valid, or no longer"}
	var row invitationRow
	err := s.db.GetContext(ctx, &row, `SELECT `+invitationColumns+` FROM auth_invitation WHERE hash = $1 AND expires_us > $2`,
		hash, database.Micros(s.opts.Now()))
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, void
	}
	if err != nil {
		return Session{}, fmt.Errorf("reading an invitation: %w", err)
	}
	n.Email, n.Name = row.Email, cmp.Or(n.Name, row.Name)
	if err := n.check(); err != nil {
		return Session{}, err
	}
	u, err := s.newRow(ctx, n, row.Account, row.Owner != 0, row.rights())
	if err != nil {
		return Session{}, err
	}
	accepted := false
	err = s.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		accepted, err = s.acceptTx(ctx, tx, row, u)
		if err != nil || !accepted {
			return err
		}
		if err := s.limits.rememberTx(ctx, tx, u.ID, n.Address); err != nil {
			return err
		}
		return recordInvitationTx(asUser(ctx, u, "", n.Cookie), tx, audit.InvitationAccept, row)
	})
	switch {
	case errors.Is(err, ErrNotFound), err == nil && !accepted: // ErrNotFound: the account is closed
		return Session{}, void
	case err != nil:
		return Session{}, fmt.Errorf("accepting an invitation: %w", err)
	}
	return s.session(audit.Without(ctx), u, n.Cookie, Client{n.Address, n.Agent})
}

// acceptTx uses an invitation up. It makes the user unless the inviter may no
// longer add such a one, or the e-mail is taken.
func (s *Service) acceptTx(ctx context.Context, tx *sqlx.Tx, row invitationRow, u userRow) (bool, error) {
	if err := lockAccount(ctx, tx, row.Account); err != nil {
		return false, err
	}
	open, err := inserted(tx.ExecContext(ctx, `DELETE FROM auth_invitation WHERE id = $1 AND hash = $2 AND expires_us > $3`,
		row.ID, row.Hash, database.Micros(s.opts.Now())))
	if err != nil || !open {
		return false, err
	}
	inviter, err := memberTx(ctx, tx, row.Account, row.Inviter)
	if errors.Is(err, ErrNotFound) || err == nil && inviter.Disabled != 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	by := Caller{User: inviter.ID, Account: inviter.Account, Permissions: inviter.rights(), Owner: inviter.owns()}
	if !by.Can(UsersManage) || grants(by, row.Owner != 0, row.rights()) != nil {
		return false, nil
	}
	err = insertUser(ctx, tx, u)
	if errors.Is(err, ErrEmailTaken) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM auth_invitation WHERE account_id = $1 AND email = $2`, row.Account, row.Email)
	return true, err
}

// issueInvitation gives an invitation a new token, for its mail. It returns
// [ErrNotFound] when the invitation is over.
func (s *Service) issueInvitation(ctx context.Context, id string) (Invitation, string, error) {
	token, hash := newOpaque()
	var row invitationRow
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		row = invitationRow{}
		err := tx.GetContext(ctx, &row, `UPDATE auth_invitation SET hash = $1 WHERE id = $2 AND expires_us > $3 RETURNING `+invitationColumns,
			hash, id, database.Micros(s.opts.Now()))
		return found(err)
	})
	if err != nil {
		return Invitation{}, "", fmt.Errorf("making an invitation link: %w", err)
	}
	return row.invitation(), token, nil
}
