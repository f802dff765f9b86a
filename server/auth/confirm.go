package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

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
	h, err := s.hashes.of(ctx, n.Password)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
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
	s.mails.Notify()
	return nil
}

// sendSignUp sends the link of a sign-up, or tells the user who has the e-mail
// already. It returns the id of the sign-up.
func (s *Service) sendSignUp(ctx context.Context, id string) (string, error) {
	token, hash := newOpaque()
	var row signUpRow
	known := 0
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
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
	used := &Invalid{Field: "token", Message: "is not valid, or no longer"}
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
	switch right, err := s.hashes.matches(ctx, h, n.Password); {
	case err != nil:
		return Session{}, err
	case !right:
		return Session{}, &Invalid{Field: "password", Message: "is not the one that was given at the sign-up"}
	}
	n.Email, n.Name = row.Email, row.Name
	u, err := s.ownerRow(n, h)
	if err != nil {
		return Session{}, err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
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
	return s.begin(ctx, u, n)
}

// foundTx makes an account and its first user.
func (s *Service) foundTx(ctx context.Context, tx *sqlx.Tx, u userRow, n NewUser) error {
	if err := s.insertAccount(ctx, tx, u); err != nil {
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

// begin is the first session of a new user.
func (s *Service) begin(ctx context.Context, u userRow, n NewUser) (Session, error) {
	out, err := s.session(audit.Without(ctx), u, n.Cookie, Client{n.Address, n.Agent})
	if n.Cookie {
		out.Device = s.devices.remember(u.ID, n.Device)
	}
	return out, err
}
