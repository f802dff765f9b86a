package auth

import (
	"errors"
	"time"
)

// The refusals of this package. [Invalid] and [RateLimited] carry data.
var (
	// ErrCredentials reports an e-mail and password that do not belong
	// together; it does not say which half was wrong.
	ErrCredentials = errors.New("auth: wrong e-mail or password")
	// ErrToken reports a token, or a cookie, that is malformed, expired,
	// revoked, or not ours.
	ErrToken = errors.New("auth: the token is not valid")
	// ErrClosed reports a sign-up on a server that takes no further account.
	ErrClosed = errors.New("auth: sign-up is closed")
	// ErrEmailTaken reports the e-mail of another user.
	ErrEmailTaken = errors.New("auth: the e-mail is taken")
	// ErrNotFound reports that there is no such user or token.
	ErrNotFound = errors.New("auth: no such user or token")
	// ErrForbidden reports a change of another user, or of permissions, by
	// someone without [UsersManage].
	ErrForbidden = errors.New("auth: users.manage is required")
	// ErrGrant reports that a caller would give a permission that the caller
	// lacks, or change a user who has one.
	ErrGrant = errors.New("auth: the caller lacks one of these permissions")
	// ErrUndeliverable is for Options.SendReset: there is no use in trying
	// again.
	ErrUndeliverable = errors.New("auth: the mail cannot be delivered")
	// ErrOwner reports what only an owner of the account may do: change an owner,
	// or make one.
	ErrOwner = errors.New("auth: only an owner may do that")
	// ErrTokens reports a user who has [MaxTokens] scoped tokens.
	ErrTokens = errors.New("auth: the user has as many tokens as one may have")
	// ErrLastOwner reports a change after which the account would have no owner
	// who may log in.
	ErrLastOwner = errors.New("auth: an account keeps one owner")
)

// Invalid is a value that breaks a rule. The value itself is not repeated.
type Invalid struct {
	Field   string // "password"
	Message string
}

func (e *Invalid) Error() string { return "auth: " + e.Field + " " + e.Message }

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
