package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/lane"
)

// ResetLife is how long a link to set a new password is valid.
const ResetLife = 30 * time.Minute

const (
	mailWorkers = 4
	mailLease   = 2 * time.Minute
	mailTries   = 10
)

// RequestReset asks for a link to set a new password, of which an e-mail gets
// at most three an hour. Whether there is such a user is found out later, in
// [Service.Run]: the answer, and the time that it takes, are the same for
// every e-mail.
func (s *Service) RequestReset(ctx context.Context, email string) error {
	email, err := normalEmail(email)
	if err != nil {
		return err
	}
	if s.mails == nil {
		return nil
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		q, err := s.takeTx(ctx, tx, resetLimit(email))
		if err != nil || q.Over {
			return err
		}
		// The key outlives the mail, so it must not be the e-mail itself.
		return s.mails.PutTx(ctx, tx, lane.Entry{Consumer: "reset", Key: hashOpaque(email), Subject: email})
	})
	if err != nil {
		return fmt.Errorf("asking for a reset: %w", err)
	}
	s.mails.Committed()
	return nil
}

// handleMail sends a link. A mail that could not be sent is tried again as
// long as its reader may still wait for it.
func (s *Service) handleMail(ctx context.Context, it lane.Item) lane.Outcome {
	done := lane.Outcome{Item: it, Verdict: lane.Done}
	u, token, err := issueReset(ctx, s.db, it.Subject, s.opts.Now())
	if errors.Is(err, ErrNotFound) {
		return done
	}
	if err == nil {
		err = s.opts.SendReset(ctx, u, token)
	}
	switch {
	case err == nil:
		s.opts.Logger.InfoContext(ctx, "reset link sent", slog.String("user", u.ID))
		return done
	case errors.Is(err, ErrUndeliverable):
		s.opts.Logger.WarnContext(ctx, "reset link not sent", slog.Any("error", err))
		return done
	case it.Attempt+1 >= mailTries:
		s.opts.Logger.ErrorContext(ctx, "reset link given up", slog.Any("error", err))
		return done
	}
	s.opts.Logger.WarnContext(ctx, "sending a reset link", slog.Any("error", err))
	return lane.Outcome{Item: it, Verdict: lane.Retry, After: min(time.Second<<it.Attempt, 5*time.Minute)}
}

// IssueReset makes the token of a link by which a user may set a new password,
// once and within [ResetLife]. It is for an operator who knows whom he gives
// it to, and needs no [Service]. It returns [ErrNotFound] when there is no such
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

func issueReset(ctx context.Context, db *database.DB, email string, now time.Time) (User, string, error) {
	var u userRow
	err := db.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE email = $1`, email)
	if err := found(err); err != nil {
		return User{}, "", err
	}
	token, hash := newOpaque()
	err = db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO auth_reset (hash, user_id, expires_us) VALUES ($1, $2, $3)`,
			hash, u.ID, database.Micros(now.Add(ResetLife)))
		return err
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
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, used := hashOpaque(token), &Invalid{"token", "is not valid, or no longer"}
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
	h, err := s.newHash(ctx, password)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
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
		return endAccess(ctx, tx, user)
	})
	s.users.drop(user)
	if err != nil {
		return fmt.Errorf("using a reset link: %w", err)
	}
	return nil
}
