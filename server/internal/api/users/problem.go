package users

import (
	"errors"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

var problems = httpapi.Translators{authProblem, secondFactorProblem, passkeyProblem}

// Problem translates the errors of package auth and of the packages below it.
func Problem(err error) *httpapi.Problem { return problems.Problem(err) }

// authProblem translates the errors of package auth.
func authProblem(err error) *httpapi.Problem {
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
	case errors.Is(err, auth.ErrTokens):
		return httpapi.NewProblem(httpapi.CodeConflict, "the user has 100 tokens for programs, and may have no more: revoke one first")
	case errors.Is(err, auth.ErrLastOwner):
		return httpapi.NewProblem(httpapi.CodeLastOwner, "an account keeps one owner who may log in: make another user an owner first")
	}
	return nil
}
