package auth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/queue"
)

const (
	mailWorkers = 4
	mailLease   = 2 * time.Minute
	mailTries   = 10
)

// The kinds of mails. The subject of the first is an e-mail, that of the others
// the id of an invitation, or of a sign-up.
const (
	mailReset      = "reset"
	mailInvitation = "invitation"
	mailSignUp     = "signup"
)

// handleMail sends a link. A mail that could not be sent is tried again as
// long as its reader may still wait for it.
func (s *Service) handleMail(ctx context.Context, it queue.Job) queue.Outcome {
	done := queue.Outcome{Job: it, Result: queue.Done}
	send := s.sendReset
	switch it.Subscriber {
	case mailInvitation:
		send = s.invitations.send
	case mailSignUp:
		send = s.sendSignUp
	}
	log := s.opts.Logger.With(slog.String("mail", it.Subscriber))
	id, err := send(ctx, it.Subject)
	switch {
	case errors.Is(err, ErrNotFound):
		return done
	case err == nil:
		log.InfoContext(ctx, "link sent", slog.String("for", id))
		return done
	case errors.Is(err, ErrUndeliverable):
		log.WarnContext(ctx, "link not sent", slog.Any("error", err))
		return done
	case it.Attempt+1 >= mailTries:
		log.ErrorContext(ctx, "link given up", slog.Any("error", err))
		return done
	}
	log.WarnContext(ctx, "sending a link", slog.Any("error", err))
	return queue.Outcome{Job: it, Result: queue.Retry, After: min(time.Second<<it.Attempt, 5*time.Minute)}
}

// sendReset sends a link to the user of an e-mail, and returns the user's id.
func (s *Service) sendReset(ctx context.Context, email string) (string, error) {
	u, token, err := issueReset(audit.Without(ctx), s.db, email, s.opts.Now())
	if err != nil {
		return "", err
	}
	return u.ID, s.opts.SendReset(ctx, u, token)
}
