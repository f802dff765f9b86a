package server

import (
	"context"
	"errors"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/credentials"
	"github.com/trunklinehq/trunkline/server/internal/api/modelusage"
	"github.com/trunklinehq/trunkline/server/internal/api/projectfiles"
	"github.com/trunklinehq/trunkline/server/internal/api/references"
	"github.com/trunklinehq/trunkline/server/internal/api/webhooks"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// problemOf translates an error for the client. What nothing translates is
// logged, and the client learns only that it happened.
func (s *Server) problemOf(ctx context.Context, err error) *Problem {
	if p := known(err); p != nil {
		return p
	}
	if p := s.storeProblem(ctx, err); p != nil {
		return p
	}
	if ctx.Err() != nil {
		return httpapi.NewProblem(httpapi.CodeUnavailable, "the request was ended before it was answered")
	}
	s.log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	return httpapi.NewProblem(httpapi.CodeInternal, "")
}

// translations make problems of the errors of the services; the first that
// knows one wins.
var translations = httpapi.Translators{authProblem, secondFactorProblem, passkeyProblem, references.Problem, webhooks.Problem, botProblem, flowProblem, runProblem, simulationProblem, credentials.Problem, remoteProblem, modelusage.Problem, extractorProblem, projectfiles.Problem, quotaProblem}

// known returns the problem that err is, or that a service means by it. It
// returns nil when err is neither.
func known(err error) *Problem { return translations.Problem(err) }

// authProblem translates the errors of package auth.
func authProblem(err error) *Problem {
	var bad *auth.Invalid
	var limited *auth.RateLimited
	var second *auth.SecondFactorRequired
	switch {
	case errors.As(err, &bad):
		return httpapi.Invalid("body."+bad.Field, bad.Message)
	case errors.As(err, &limited):
		return httpapi.NewProblem(httpapi.CodeRateLimited, "there were too many attempts").RetryAfter(limited.After)
	case errors.As(err, &second):
		return secondFactorRequired(second.Wrong)
	case errors.Is(err, auth.ErrCredentials):
		return httpapi.NewProblem(httpapi.CodeUnauthorized, "the e-mail or the password is wrong")
	case errors.Is(err, auth.ErrToken):
		p := httpapi.NewProblem(httpapi.CodeUnauthorized, "the token is not valid, or no longer")
		p.Header.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		return p
	case errors.Is(err, auth.ErrClosed):
		return httpapi.NewProblem(httpapi.CodeForbidden, "sign-up is closed on this server")
	case errors.Is(err, auth.ErrEmailTaken):
		return httpapi.NewProblem(httpapi.CodeConflict, "a user with this e-mail exists")
	case errors.Is(err, auth.ErrNotFound):
		return httpapi.NewProblem(httpapi.CodeNotFound, "there is no such user or token")
	case errors.Is(err, auth.ErrForbidden):
		return httpapi.NewProblem(httpapi.CodeForbidden, "the permission users.manage is required")
	case errors.Is(err, auth.ErrGrant):
		return httpapi.NewProblem(httpapi.CodeForbidden, "the caller lacks a permission that is granted, or that the user has who is changed")
	case errors.Is(err, auth.ErrOwner):
		return httpapi.NewProblem(httpapi.CodeForbidden, "only an owner of the account makes or changes an owner")
	case errors.Is(err, auth.ErrLastOwner):
		return httpapi.NewProblem(httpapi.CodeLastOwner, "an account keeps one owner who may log in: make another user an owner first")
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
	return httpapi.NewProblem(httpapi.CodeUnavailable, "the store cannot be written for now")
}
