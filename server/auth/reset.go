package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// ResetTTL is how long a link to set a new password is valid.
const ResetTTL = 30 * time.Minute

// RequestReset asks for a link to set a new password, of which an e-mail gets
// at most three an hour. Whether there is such a user is found out later, in
// [Service.Run]: the answer, and the time that it takes, are the same for
// every e-mail.
func (s *Service) RequestReset(ctx context.Context, email string) error {
	email, err := normalEmail(email)
	if err != nil {
		return err
	}
	if s.opts.SendReset == nil {
		return nil
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		q, err := s.limits.takeTx(ctx, tx, resetLimit(email))
		if err != nil || q.Over {
			return err
		}
		// The key outlives the mail, so it must not be the e-mail itself.
		return s.mails.PutTx(ctx, tx, queue.JobArgs{Subscriber: mailReset, Key: hashOpaque(email), Subject: email})
	})
	if err != nil {
		return fmt.Errorf("asking for a reset: %w", err)
	}
	return nil
}

// IssueReset makes the token of a link by which a user may set a new password,
// once and within [ResetTTL]. It is for an operator, who gives it to
// the user, and needs no [Service]. It returns [ErrNotFound] when there is no such
// user.
func IssueReset(ctx context.Context, db *sqlx.DB, email string) (string, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return "", fmt.Errorf("auth: %w", err)
	}
	if email, err = normalEmail(email); err != nil {
		return "", err
	}
	_, token, err := issueReset(ctx, d, email, time.Now())
	return token, err
}

// issueReset makes the token of a link, which is recorded as an operator's.
func issueReset(ctx context.Context, db *database.DB, email string, now time.Time) (User, string, error) {
	var u userRow
	err := db.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE email = $1`+notClosed, email)
	if err := found(err); err != nil {
		return User{}, "", err
	}
	token, hash := newOpaque()
	err = db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO auth_reset (hash, user_id, expires_us) VALUES ($1, $2, $3)`,
			hash, u.ID, database.Micros(now.Add(ResetTTL)))
		if err != nil {
			return err
		}
		return recordUserTx(asOperator(ctx, u.Account), tx, audit.UserRequestReset, u, nil)
	})
	if err != nil {
		return User{}, "", fmt.Errorf("making a reset link: %w", err)
	}
	return u.user(), token, nil
}

// Reset sets the password of the user to whom a link was sent, and ends his
// older tokens, cookie sessions and links. The link works once. It returns
// [Invalid] when the token is not, or no longer, valid.
func (s *Service) Reset(ctx context.Context, token, password string) error {
	if err := CheckPassword(password); err != nil {
		return err
	}
	hash, used := hashOpaque(token), &Invalid{Field: "token", Message: "is not valid, or no longer valid: request a new link"}
	var user string
	now := database.Micros(s.opts.Now())
	// Who has no link must not make us hash.
	err := s.db.GetContext(ctx, &user, `SELECT user_id FROM auth_reset WHERE hash = $1 AND expires_us > $2`, hash, now)
	if errors.Is(err, sql.ErrNoRows) {
		return used
	}
	if err != nil {
		return fmt.Errorf("reading a reset link: %w", err)
	}
	u, err := s.users.row(ctx, "id", user)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, u.Email, u.Name); err != nil {
		return err
	}
	h, err := s.passwords.hashes.of(ctx, password)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error {
		there, err := inserted(tx.ExecContext(ctx, `DELETE FROM auth_reset WHERE hash = $1 AND expires_us > $2`, hash, now))
		if err != nil {
			return err
		}
		if !there {
			return used
		}
		if _, err := tx.ExecContext(ctx, `UPDATE auth_user SET password = $1, version = version + 1 WHERE id = $2`, h.String(), user); err != nil {
			return err
		}
		if err := endAccess(ctx, tx, user); err != nil {
			return err
		}
		return recordUserTx(asNobody(ctx, u), tx, audit.UserReset, u, nil) // who has the link
	})
	if err != nil {
		return fmt.Errorf("using a reset link: %w", err)
	}
	return nil
}
