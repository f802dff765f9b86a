package auth

import (
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// The refusals of this package. [Invalid] and [RateLimited] carry data.
var (
	// ErrCredentials reports an e-mail and password that do not belong
	// together; it does not say which half was wrong.
	ErrCredentials = apierr.New("auth", apierr.Unauthorized, "the e-mail or the password is wrong")
	// ErrToken reports a token, or a cookie, that is malformed, expired,
	// revoked, or not ours.
	ErrToken = errors.New("auth: the token is not valid")
	// ErrClosed reports a sign-up on a server that takes no further account.
	ErrClosed = apierr.New("auth", apierr.Forbidden, "sign-up is closed on this server")
	// ErrEmailTaken reports the e-mail of another user.
	ErrEmailTaken = apierr.New("auth", apierr.Conflict, "a user with this e-mail exists: use another e-mail, or log in")
	// ErrNotFound reports that there is no such user or token.
	ErrNotFound = apierr.New("auth", apierr.NotFound, "there is no such user or token")
	// ErrForbidden reports a change of another user, or of permissions, by
	// someone without [UsersManage].
	ErrForbidden = apierr.New("auth", apierr.Forbidden, "the permission users.manage is required")
	// ErrGrant reports that a caller would give a permission that the caller
	// lacks, or change a user who has one.
	ErrGrant = apierr.New("auth", apierr.Forbidden,
		"you can only grant permissions that you have, and only change users whose permissions you have")
	// ErrUndeliverable is for Options.SendReset: there is no use in trying
	// again.
	ErrUndeliverable = errors.New("auth: the mail cannot be delivered")
	// ErrOwner reports what only an owner of the account may do: change an owner,
	// or make one.
	ErrOwner = apierr.New("auth", apierr.Forbidden, "only an owner of the account can create or change an owner")
	// ErrTokens reports a user who has [MaxTokens] scoped tokens.
	ErrTokens = apierr.New("auth", apierr.Conflict, "the user has 100 tokens for programs, which is the maximum: revoke one first")
	// ErrLastOwner reports a change after which the account would have no owner
	// who may log in.
	ErrLastOwner = apierr.New("auth", "last_owner", "an account needs an owner who can log in: make another user an owner first")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
type Invalid = apierr.Invalid

// SecondFactorRequired refuses a login with the right password and without a
// code of the second factor, or with a wrong one.
type SecondFactorRequired struct {
	Wrong bool // a code was given
}

func (e *SecondFactorRequired) Error() string {
	if e.Wrong {
		return "auth: the code is wrong or was used"
	}
	return "auth: a code of the second factor is required"
}

// RateLimited refuses a call that came too often.
type RateLimited struct {
	After time.Duration // when to try again
}

func (e *RateLimited) Error() string { return "auth: too many attempts" }
