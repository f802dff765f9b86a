package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// InvitationTTL is how long an invitation is valid.
const InvitationTTL = 7 * 24 * time.Hour

// NewInvitation is a request to invite a person into an account.
type NewInvitation struct {
	Email       string
	Name        string // "": the person gives it
	Role        Role   // "": Permissions say what the user may do
	Permissions []Permission
	NoMail      bool // the token is returned also when it could be mailed
}

// Invitation is an invitation that was not accepted yet. Its token is shown
// only once.
type Invitation struct {
	ID          string
	Email       string
	Name        string
	Role        Role // "": another set of permissions
	Permissions []Permission
	InvitedBy   string // id of the user
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// Invite makes an invitation into the account of by, with rights that by has.
// With Options.SendInvitation a mail brings the token, and "" is returned: the
// person shows with it that the mailbox is theirs. It returns [Invalid],
// [ErrForbidden], [ErrGrant], [ErrOwner], [ErrEmailTaken] or [RateLimited] when
// that is refused.
func (s *Service) Invite(ctx context.Context, by Caller, n NewInvitation) (Invitation, string, error) {
	row, err := s.newInvitation(ctx, by, n)
	if err != nil {
		return Invitation{}, "", err
	}
	token, mailed := "", s.mails != nil && s.opts.SendInvitation != nil && !n.NoMail
	if !mailed {
		opaque, hash := newOpaque()
		token, row.Hash = opaque, &hash
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := s.inviteTx(ctx, tx, by, row); err != nil {
			return err
		}
		if err := recordInvitationTx(ctx, tx, audit.InvitationCreate, row); err != nil || !mailed {
			return err
		}
		return s.mails.PutTx(ctx, tx, queue.JobArgs{Subscriber: mailInvitation, Key: row.ID, Subject: row.ID})
	})
	if err != nil {
		return Invitation{}, "", fmt.Errorf("inviting a user: %w", err)
	}
	if mailed {
		s.mails.Notify()
	}
	return row.invitation(), token, nil
}

// newInvitation is the row of an invitation whose values were checked.
func (s *Service) newInvitation(ctx context.Context, by Caller, n NewInvitation) (row invitationRow, err error) {
	if n.Email, err = normalEmail(n.Email); err != nil {
		return row, err
	}
	if n.Name != "" {
		if n.Name, err = normalName(n.Name); err != nil {
			return row, err
		}
	}
	owner, permissions, err := rights(n.Role, n.Permissions)
	if err != nil {
		return row, err
	}
	if err := s.checkReferences(ctx, by.Account, permissions, nil); err != nil {
		return row, err
	}
	if err := grants(by, owner, permissions); err != nil {
		return row, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return row, fmt.Errorf("making an invitation id: %w", err)
	}
	now := s.opts.Now()
	return invitationRow{
		ID: id.String(), Account: by.Account, Inviter: by.User, Email: n.Email, Name: n.Name,
		Owner: flag(owner), Permissions: joinPermissions(permissions),
		Created: database.Micros(now), Expires: database.Micros(now.Add(InvitationTTL)),
	}, nil
}

// inviteTx stores an invitation after the rules were held against what is
// stored.
func (s *Service) inviteTx(ctx context.Context, tx *sqlx.Tx, by Caller, row invitationRow) error {
	if err := lockAccount(ctx, tx, by.Account); err != nil {
		return err
	}
	by, err := managerTx(ctx, tx, by)
	if err != nil {
		return err
	}
	if err := grants(by, row.Owner != 0, row.rights()); err != nil {
		return err
	}
	var taken int
	if err := tx.GetContext(ctx, &taken, `SELECT count(*) FROM auth_user WHERE email = $1`, row.Email); err != nil {
		return err
	}
	if taken > 0 {
		return ErrEmailTaken
	}
	for _, l := range []limit{invitationLimit(by.Account), invitedLimit(by.Account, row.Email)} {
		q, err := s.limits.takeTx(ctx, tx, l)
		if err != nil {
			return err
		}
		if q.Over {
			return &RateLimited{After: q.Reset}
		}
	}
	_, err = tx.NamedExecContext(ctx, `INSERT INTO auth_invitation
		(id, hash, account_id, inviter, email, name, owner, permissions, expires_us, created_us)
		VALUES (:id, :hash, :account_id, :inviter, :email, :name, :owner, :permissions, :expires_us, :created_us)`, row)
	return err
}

// Invitations lists the invitations of an account that are open, the oldest
// first.
func (s *Service) Invitations(ctx context.Context, account string, l List) (Page[Invitation], error) {
	after, limit, err := l.position()
	if err != nil {
		return Page[Invitation]{}, err
	}
	var rows []invitationRow
	err = s.db.SelectContext(ctx, &rows, `SELECT `+invitationColumns+` FROM auth_invitation
		WHERE account_id = $1 AND seq > $2 AND expires_us > $3 ORDER BY seq LIMIT $4`,
		account, after, database.Micros(s.opts.Now()), limit+1)
	if err != nil {
		return Page[Invitation]{}, fmt.Errorf("listing invitations: %w", err)
	}
	items, next := page.Cut(rows, limit, func(r invitationRow) int64 { return r.Seq }, invitationRow.invitation)
	return Page[Invitation]{items, next}, nil
}

// RevokeInvitation ends an invitation of the account of by, who must have the
// rights that it would give. It returns [ErrForbidden], [ErrNotFound],
// [ErrGrant] or [ErrOwner] when that is refused.
func (s *Service) RevokeInvitation(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		by, err := managerTx(ctx, tx, by)
		if err != nil {
			return err
		}
		var row invitationRow
		err = tx.GetContext(ctx, &row, `SELECT `+invitationColumns+` FROM auth_invitation WHERE id = $1 AND account_id = $2`, id, by.Account)
		if err := found(err); err != nil {
			return err
		}
		if err := grants(by, row.Owner != 0, row.rights()); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM auth_invitation WHERE id = $1`, id); err != nil {
			return err
		}
		return recordInvitationTx(ctx, tx, audit.InvitationRevoke, row)
	})
	if err != nil {
		return fmt.Errorf("revoking an invitation: %w", err)
	}
	return nil
}

// invitationRow is a row of auth_invitation.
type invitationRow struct {
	Seq         int64   `db:"seq"`
	ID          string  `db:"id"`
	Hash        *string `db:"hash"`
	Account     string  `db:"account_id"`
	Inviter     string  `db:"inviter"`
	Email       string  `db:"email"`
	Name        string  `db:"name"`
	Owner       int64   `db:"owner"`
	Permissions string  `db:"permissions"`
	Expires     int64   `db:"expires_us"`
	Created     int64   `db:"created_us"`
}

const invitationColumns = `seq, id, hash, account_id, inviter, email, name, owner, permissions, expires_us, created_us`

// rights are the permissions that the invitation gives.
func (r invitationRow) rights() []Permission {
	return userRow{Owner: r.Owner, Permissions: r.Permissions}.rights()
}

func (r invitationRow) invitation() Invitation {
	return Invitation{
		ID: r.ID, Email: r.Email, Name: r.Name, Role: roleOf(r.Owner != 0, r.rights()), Permissions: r.rights(), InvitedBy: r.Inviter,
		CreatedAt: database.Time(r.Created), ExpiresAt: database.Time(r.Expires),
	}
}
