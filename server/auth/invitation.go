package auth

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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

// Invitations keeps the invitations into accounts. It is safe for concurrent
// use.
type Invitations struct {
	db       *database.DB
	now      func() time.Time
	limits   *limits
	users    *Users
	sessions *Sessions
	mails    *queue.Queue // nil: no link is ever sent
	mail     func(ctx context.Context, to Invitation, token string) error
}

// Create makes an invitation into the account of by, with rights that by has.
// With Options.SendInvitation a mail brings the token, and "" is returned: the
// person shows with it that the mailbox is theirs. It returns [Invalid],
// [ErrForbidden], [ErrGrant], [ErrOwner], [ErrEmailTaken] or [RateLimited] when
// that is refused.
func (s *Invitations) Create(ctx context.Context, by Caller, n NewInvitation) (Invitation, string, error) {
	row, err := s.newRow(ctx, by, n)
	if err != nil {
		return Invitation{}, "", err
	}
	token, mailed := "", s.mails != nil && s.mail != nil && !n.NoMail
	if !mailed {
		opaque, hash := newOpaque()
		token, row.Hash = opaque, &hash
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		if err := s.insertTx(ctx, tx, by, row); err != nil {
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
	return row.invitation(), token, nil
}

// newRow is the row of an invitation whose values were checked.
func (s *Invitations) newRow(ctx context.Context, by Caller, n NewInvitation) (row invitationRow, err error) {
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
	if err := s.users.checkReferences(ctx, by.Account, permissions, nil); err != nil {
		return row, err
	}
	if err := grants(by, owner, permissions); err != nil {
		return row, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return row, fmt.Errorf("making an invitation id: %w", err)
	}
	now := s.now()
	return invitationRow{
		ID: id.String(), Account: by.Account, Inviter: by.User, Email: n.Email, Name: n.Name,
		Owner: flag(owner), Permissions: joinPermissions(permissions),
		Created: database.Micros(now), Expires: database.Micros(now.Add(InvitationTTL)),
	}, nil
}

// insertTx stores an invitation after the rules were held against what is
// stored.
func (s *Invitations) insertTx(ctx context.Context, tx *database.Tx, by Caller, row invitationRow) error {
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

// List returns a page of the invitations of an account that are open, the oldest
// first.
func (s *Invitations) List(ctx context.Context, account string, l List) (Page[Invitation], error) {
	return page.Select(ctx, s.db, l, "invitations", func(r invitationRow) int64 { return r.Seq }, invitationRow.invitation,
		`SELECT `+invitationColumns+` FROM auth_invitation WHERE account_id = $1 AND expires_us > $2 AND seq > $3 ORDER BY seq LIMIT $4`,
		account, database.Micros(s.now()))
}

// Revoke ends an invitation of the account of by, who must have the
// rights that it would give. It returns [ErrForbidden], [ErrNotFound],
// [ErrGrant] or [ErrOwner] when that is refused.
func (s *Invitations) Revoke(ctx context.Context, by Caller, id string) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
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

// Accept makes the user that a link invites, with a name and a password of
// their own, also on a server whose sign-up is closed. The link works once. It
// returns [Invalid], of the field token when the link is not, or no longer,
// valid: it has ended, the inviter may no longer give what it gives, or the
// e-mail is a user's by now.
func (s *Invitations) Accept(ctx context.Context, token string, n NewUser) (Session, error) {
	hash, void := hashOpaque(token), &Invalid{Field: "token", Message: "is not valid, or no longer valid: ask for a new invitation"}
	var row invitationRow
	err := s.db.GetContext(ctx, &row, `SELECT `+invitationColumns+` FROM auth_invitation WHERE hash = $1 AND expires_us > $2`,
		hash, database.Micros(s.now()))
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
	u, err := s.users.newRow(ctx, n, row.Account, row.Owner != 0, row.rights())
	if err != nil {
		return Session{}, err
	}
	accepted := false
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
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
	return s.sessions.begin(audit.Without(ctx), u, n.Cookie, Client{n.Address, n.Agent})
}

// acceptTx uses an invitation up. It makes the user unless the inviter may no
// longer add such a one, or the e-mail is taken.
func (s *Invitations) acceptTx(ctx context.Context, tx *database.Tx, row invitationRow, u userRow) (bool, error) {
	if err := lockAccount(ctx, tx, row.Account); err != nil {
		return false, err
	}
	open, err := inserted(tx.ExecContext(ctx, `DELETE FROM auth_invitation WHERE id = $1 AND hash = $2 AND expires_us > $3`,
		row.ID, row.Hash, database.Micros(s.now())))
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

// issue gives an invitation a new token, for its mail. It returns
// [ErrNotFound] when the invitation is over.
func (s *Invitations) issue(ctx context.Context, id string) (Invitation, string, error) {
	token, hash := newOpaque()
	var row invitationRow
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		row = invitationRow{}
		err := tx.GetContext(ctx, &row, `UPDATE auth_invitation SET hash = $1 WHERE id = $2 AND expires_us > $3 RETURNING `+invitationColumns,
			hash, id, database.Micros(s.now()))
		return found(err)
	})
	if err != nil {
		return Invitation{}, "", fmt.Errorf("making an invitation link: %w", err)
	}
	return row.invitation(), token, nil
}

// send sends the link of an invitation, and returns its id.
func (s *Invitations) send(ctx context.Context, id string) (string, error) {
	inv, token, err := s.issue(ctx, id)
	if err != nil {
		return "", err
	}
	return id, s.mail(ctx, inv, token)
}
