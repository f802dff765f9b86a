package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// NewUser is a request to make a user.
type NewUser struct {
	Email    string
	Name     string // 1..200 characters
	Password string // see [CheckPassword]

	// Role is of [Users.Create] and [Operator.Create] only: what the user
	// may do, instead of permissions. "": permissions say it.
	Role Role

	// Of a sign-up only, which is a login, too: the address of the client, what
	// it calls itself, and whether a cookie session is wanted.
	Address netip.Addr
	Agent   string
	Cookie  bool
	Device  string // as in [Credentials]
}

const (
	maxEmail = 254 // what a mail server accepts
	maxName  = 200
)

// SignUp makes an account and its first user. It returns [Invalid],
// [ErrClosed] or [ErrEmailTaken] when that is refused.
//
// With Options.SendSignUp all but the first account of a server end with a
// link: a mail brings it, [Service.ConfirmSignUp] uses it, and the Session is
// the zero value. Then nothing says whether the e-mail is a user's. An address
// has ten such sign-ups an hour: more are [RateLimited].
func (s *Service) SignUp(ctx context.Context, n NewUser) (Session, error) {
	if err := n.check(); err != nil {
		return Session{}, err
	}
	if err := s.open(ctx); err != nil {
		return Session{}, err
	}
	switch confirms, err := s.confirms(ctx); {
	case err != nil:
		return Session{}, err
	case confirms:
		return Session{}, s.requestSignUp(ctx, n)
	}
	h, err := s.passwords.hashes.of(ctx, n.Password)
	if err != nil {
		return Session{}, err
	}
	u, err := s.users.ownerRow(n, h)
	if err != nil {
		return Session{}, err
	}
	if err := s.db.Write(ctx, func(tx *database.Tx) error { return s.foundTx(ctx, tx, u, n) }); err != nil {
		return Session{}, fmt.Errorf("signing up: %w", err)
	}
	return s.firstSession(ctx, u, n)
}

// open returns [ErrClosed] on a server that takes no further account, before
// a password is hashed for nothing.
func (s *Service) open(ctx context.Context) error {
	if !s.opts.Closed {
		return nil
	}
	var accounts int
	if err := s.db.GetContext(ctx, &accounts, `SELECT count(*) FROM auth_account`); err != nil {
		return fmt.Errorf("counting accounts: %w", err)
	}
	if accounts > 0 {
		return ErrClosed
	}
	return nil
}

// check looks at all fields and puts them into their usual form.
func (n *NewUser) check() (err error) {
	if n.Email, err = normalEmail(n.Email); err != nil {
		return err
	}
	if n.Name, err = normalName(n.Name); err != nil {
		return err
	}
	return CheckPassword(n.Password, n.Email, n.Name)
}

// newRow is a user who was checked. It hashes the password, which takes
// longest and so comes last.
func (s *Users) newRow(ctx context.Context, n NewUser, account string, owner bool, ps []Permission) (userRow, error) {
	h, err := s.passwords.hashes.of(ctx, n.Password)
	if err != nil {
		return userRow{}, err
	}
	return s.hashedRow(n, h, account, owner, ps)
}

// ownerRow is the first user of a new account.
func (s *Users) ownerRow(n NewUser, h hash) (userRow, error) {
	account, err := uuid.NewV7()
	if err != nil {
		return userRow{}, fmt.Errorf("making an account id: %w", err)
	}
	return s.hashedRow(n, h, account.String(), true, AllPermissions())
}

func (s *Users) hashedRow(n NewUser, h hash, account string, owner bool, ps []Permission) (userRow, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return userRow{}, fmt.Errorf("making a user id: %w", err)
	}
	return userRow{
		ID: id.String(), Account: account, Email: n.Email, Name: n.Name, Password: h.String(),
		Permissions: joinPermissions(ps), Version: 1, Created: database.Micros(s.now()), Owner: flag(owner),
	}, nil
}

func (s *Users) insertAccount(ctx context.Context, tx *database.Tx, u userRow) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO auth_account (id, created_us) VALUES ($1, $2)`, u.Account, u.Created); err != nil {
		return err
	}
	first, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_first (id, account_id) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, u.Account))
	if err == nil && s.closed && !first {
		err = ErrClosed
	}
	return err
}

func insertUser(ctx context.Context, tx *database.Tx, u userRow) error {
	fresh, err := inserted(tx.ExecContext(ctx,
		`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us, owner)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (email) DO NOTHING`,
		u.ID, u.Account, u.Email, u.Name, u.Password, u.Permissions, u.Version, u.Created, u.Owner))
	if err == nil && !fresh {
		err = ErrEmailTaken
	}
	return err
}

// inserted says whether a statement changed a row.
func inserted(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// normalEmail is the form of an address that is unique among users.
func normalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > maxEmail {
		return "", &Invalid{Field: "email", Message: "must be an e-mail address"}
	}
	return s, nil
}

func normalName(s string) (string, error) {
	s = strings.TrimSpace(s)
	if l := utf8.RuneCountInString(s); l < 1 || l > maxName {
		return "", &Invalid{Field: "name", Message: fmt.Sprintf("must have 1 to %d characters", maxName)}
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", &Invalid{Field: "name", Message: "must be text without control characters"}
	}
	return s, nil
}

// SignUpTTL is how long the link that confirms a sign-up is valid.
const SignUpTTL = 24 * time.Hour

// signUpRow is a row of auth_signup.
type signUpRow struct {
	ID       string `db:"id"`
	Email    string `db:"email"`
	Name     string `db:"name"`
	Password string `db:"password"`
}

// confirms says whether a sign-up ends with a link: mail is sent, and there is an
// account. The first one needs no link: the mail server was not tried yet.
func (s *Service) confirms(ctx context.Context) (bool, error) {
	if s.opts.SendSignUp == nil {
		return false, nil
	}
	var accounts int
	if err := s.db.GetContext(ctx, &accounts, `SELECT count(*) FROM auth_first`); err != nil {
		return false, fmt.Errorf("looking for the first account: %w", err)
	}
	return accounts > 0, nil
}

// requestSignUp keeps a sign-up until its link is used. Whether the e-mail is a
// user's is found out later, in [Service.Run]: the statements are the same for
// every e-mail.
func (s *Service) requestSignUp(ctx context.Context, n NewUser) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making the id of a sign-up: %w", err)
	}
	h, err := s.passwords.hashes.of(ctx, n.Password)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		q, err := s.limits.takeTx(ctx, tx, signUpsLimit(n.Address))
		if err != nil {
			return err
		}
		if q.Over {
			return &RateLimited{After: q.Reset}
		}
		if q, err = s.limits.takeTx(ctx, tx, signUpLimit(n.Email)); err != nil || q.Over {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO auth_signup (id, email, name, password, expires_us) VALUES ($1, $2, $3, $4, $5)`,
			id.String(), n.Email, n.Name, h.String(), database.Micros(s.opts.Now().Add(SignUpTTL)))
		if err != nil {
			return err
		}
		return s.mails.PutTx(ctx, tx, queue.JobArgs{Subscriber: mailSignUp, Key: id.String(), Subject: id.String()})
	})
	if err != nil {
		return fmt.Errorf("asking for a sign-up: %w", err)
	}
	return nil
}

// sendSignUp sends the link of a sign-up, or tells the user who has the e-mail
// already. It returns the id of the sign-up.
func (s *Service) sendSignUp(ctx context.Context, id string) (string, error) {
	token, hash := newOpaque()
	var row signUpRow
	known := 0
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		err := tx.GetContext(ctx, &row, `UPDATE auth_signup SET hash = $1 WHERE id = $2 AND expires_us > $3 RETURNING id, email, name, password`,
			hash, id, database.Micros(s.opts.Now()))
		if err := found(err); err != nil {
			return err
		}
		return tx.GetContext(ctx, &known, `SELECT count(*) FROM auth_user WHERE email = $1`, row.Email)
	})
	if err != nil {
		return "", fmt.Errorf("making the link of a sign-up: %w", err)
	}
	if known > 0 {
		token = ""
	}
	return id, s.opts.SendSignUp(ctx, row.Email, token)
}

// ConfirmSignUp ends a sign-up: it makes the account and its first user. The
// token came by mail, which shows that the mailbox is the caller's; the
// password must be that of the sign-up, so that a stranger's sign-up in their
// name is not confirmed. Of n it reads Password, Address, Agent, Cookie and
// Device. The link works once. It returns [Invalid], of the field token when
// the link is not, or no longer, valid.
func (s *Service) ConfirmSignUp(ctx context.Context, token string, n NewUser) (Session, error) {
	used := &Invalid{Field: "token", Message: "is not valid, or no longer valid: sign up again"}
	var row signUpRow
	err := s.db.GetContext(ctx, &row, `SELECT id, email, name, password FROM auth_signup WHERE hash = $1 AND expires_us > $2`,
		hashOpaque(token), database.Micros(s.opts.Now()))
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, used
	}
	if err != nil {
		return Session{}, fmt.Errorf("reading a sign-up: %w", err)
	}
	h, err := parseHash(row.Password)
	if err != nil {
		return Session{}, fmt.Errorf("reading a sign-up: %w", err)
	}
	switch right, err := s.passwords.hashes.matches(ctx, h, n.Password); {
	case err != nil:
		return Session{}, err
	case !right:
		return Session{}, &Invalid{Field: "password", Message: "is not the password of the sign-up"}
	}
	n.Email, n.Name = row.Email, row.Name
	u, err := s.users.ownerRow(n, h)
	if err != nil {
		return Session{}, err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		there, err := inserted(tx.ExecContext(ctx, `DELETE FROM auth_signup WHERE id = $1`, row.ID))
		if err != nil {
			return err
		}
		if !there {
			return used
		}
		return s.foundTx(ctx, tx, u, n)
	})
	if errors.Is(err, ErrEmailTaken) {
		return Session{}, used
	}
	if err != nil {
		return Session{}, fmt.Errorf("confirming a sign-up: %w", err)
	}
	return s.firstSession(ctx, u, n)
}

// foundTx makes an account and its first user.
func (s *Service) foundTx(ctx context.Context, tx *database.Tx, u userRow, n NewUser) error {
	if err := s.users.insertAccount(ctx, tx, u); err != nil {
		return err
	}
	if err := insertUser(ctx, tx, u); err != nil {
		return err
	}
	if err := s.limits.rememberTx(ctx, tx, u.ID, n.Address); err != nil {
		return err
	}
	return audit.RecordTx(asUser(ctx, u, "", n.Cookie), tx, audit.Entry{Action: audit.AccountCreate, ObjectID: u.Account})
}

// firstSession is the first session of a new user.
func (s *Service) firstSession(ctx context.Context, u userRow, n NewUser) (Session, error) {
	out, err := s.sessions.begin(audit.Without(ctx), u, n.Cookie, Client{n.Address, n.Agent})
	if n.Cookie {
		out.Device = s.devices.remember(u.ID, n.Device)
	}
	return out, err
}
