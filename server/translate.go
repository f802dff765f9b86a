package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/webhook"
)

// authProblem translates the errors of package auth.
func authProblem(err error) *Problem {
	var bad *auth.Invalid
	var limited *auth.RateLimited
	var second *auth.SecondFactorRequired
	switch {
	case errors.As(err, &bad):
		return invalid("body."+bad.Field, bad.Message)
	case errors.As(err, &limited):
		return problem(codeRateLimited, "there were too many attempts").retryAfter(limited.After)
	case errors.As(err, &second):
		return secondFactorRequired(second.Wrong)
	case errors.Is(err, auth.ErrCredentials):
		return problem(codeUnauthorized, "the e-mail or the password is wrong")
	case errors.Is(err, auth.ErrToken):
		p := problem(codeUnauthorized, "the token is not valid, or no longer")
		p.header.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		return p
	case errors.Is(err, auth.ErrClosed):
		return problem(codeForbidden, "sign-up is closed on this server")
	case errors.Is(err, auth.ErrEmailTaken):
		return problem(codeConflict, "a user with this e-mail exists")
	case errors.Is(err, auth.ErrNotFound):
		return problem(codeNotFound, "there is no such user or token")
	case errors.Is(err, auth.ErrForbidden):
		return problem(codeForbidden, "the permission users.manage is required")
	case errors.Is(err, auth.ErrGrant):
		return problem(codeForbidden, "the caller lacks a permission that is granted, or that the user has who is changed")
	case errors.Is(err, auth.ErrOwner):
		return problem(codeForbidden, "only an owner of the account makes or changes an owner")
	case errors.Is(err, auth.ErrLastOwner):
		return problem(codeLastOwner, "an account keeps one owner who may log in: make another user an owner first")
	}
	return nil
}

// messagingProblem translates the errors of package messaging.
func messagingProblem(err error) *Problem {
	switch {
	case errors.Is(err, messaging.ErrUnverified):
		return problem(codeUnauthorized, "the signature fits no reference that this callback is for")
	case errors.Is(err, messaging.ErrUnproved):
		return problem(codeUnavailable, "no access token has shown yet that it may read the id of this callback")
	}
	r, ok := messaging.Refused(err)
	if !ok {
		return nil
	}
	p := problem(r.Code, r.Message)
	if r.Field != "" {
		place := "body."
		if r.Field == "Idempotency-Key" {
			place = "header."
		}
		p.Errors = append(p.Errors, FieldError{Location: place + r.Field, Message: r.Why})
	}
	if r.After > 0 {
		p.retryAfter(r.After)
	}
	return p
}

// webhookProblem translates the errors of package webhook.
func webhookProblem(err error) *Problem {
	var bad *webhook.Invalid
	switch {
	case errors.As(err, &bad):
		if bad.Field == "url" {
			return invalid("body.webhook", bad.Message)
		}
		return invalid("body."+bad.Field, bad.Message)
	case errors.Is(err, webhook.ErrNotFound):
		return problem(codeNotFound, "there is no such webhook")
	}
	return nil
}

// storeProblem is for a store that takes nothing for now. The operator must
// act, so it is logged, and the probe looks closer.
func (s *Server) storeProblem(ctx context.Context, err error) *Problem {
	if ctx.Err() != nil || !database.IsUnwritable(err) {
		return nil
	}
	s.probe.refusals.Add(1)
	s.log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", err))
	return problem(codeUnavailable, "the store cannot be written for now")
}

// inQuery says that what err names stands in the query.
func inQuery(err error) error { return relocated(err, "body.", "query.") }

// relocated says that what err names at one place stands at another.
func relocated(err error, from, to string) error {
	p := known(err)
	if p == nil || len(p.Errors) == 0 {
		return err
	}
	moved := *p
	moved.Errors = slices.Clone(p.Errors)
	for i, e := range moved.Errors {
		if name, ok := strings.CutPrefix(e.Location, from); ok {
			moved.Errors[i].Location = to + name
		}
	}
	return &moved
}
