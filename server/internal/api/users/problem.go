package users

import (
	"errors"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Problem translates the errors of package auth, and of the packages below it,
// that are not of package apierr.
func Problem(err error) *httpapi.Problem {
	var limited *auth.RateLimited
	var second *auth.SecondFactorRequired
	var copied *passkey.Copied
	switch {
	case errors.As(err, &limited):
		return httpapi.NewProblem(httpapi.CodeRateLimited, "there were too many attempts: try again later").RetryAfter(limited.After)
	case errors.As(err, &second):
		return secondFactorRequired(second.Wrong)
	case errors.As(err, &copied):
		return httpapi.NewProblem(httpapi.CodePasskeyCopied, "the signature counter of the passkey "+copied.Name+" decreased, so it may have been copied: log in another way and remove it")
	case errors.Is(err, auth.ErrToken):
		p := httpapi.NewProblem(httpapi.CodeUnauthorized, "the token is not valid, or no longer valid: log in again")
		p.Header.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		return p
	}
	return nil
}
