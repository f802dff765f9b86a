package auth

import (
	"context"
	"slices"
	"time"
)

// Caller is the user or the program that makes a request.
type Caller struct {
	User        string
	Account     string
	Email       string
	Permissions []Permission // to be read only
	Owner       bool         // it is an owner of the account; never with a scoped token
	TokenID     string       // of the session: of the token, or of the log-in that set the cookie
	Scoped      bool         // it is a scoped token: a program's, with some of the user's rights
	Cookie      bool         // it is a cookie session: a person's in a browser

	used, created time.Time // of the session
}

// Can says whether the caller has a permission. For one that is not limited
// to a reference, the caller must have it on every reference.
func (c Caller) Can(p Permission) bool { return Covers(c.Permissions, p) }

// CanOn says whether the caller has a permission on a reference.
func (c Caller) CanOn(p Permission, reference int64) bool { return c.Can(p.On(reference)) }

// References returns on which references the caller has a permission, in
// ascending order, or that it is on all.
func (c Caller) References(p Permission) (ids []int64, all bool) { return References(c.Permissions, p) }

// missing says whether any of ps is a right that the caller has not.
func (c Caller) missing(ps []Permission) bool {
	return slices.ContainsFunc(ps, func(p Permission) bool { return !c.Can(p) })
}

// Authenticate says whose token it is, with the rights that its user has now,
// cut down to those of the token when it is a scoped one. It takes one
// statement, so that a change of rights, a new password or the end of a session
// holds at once on every node. It returns [ErrToken] when the token is not, or
// no longer, valid.
func (s *Service) Authenticate(ctx context.Context, token string) (Caller, error) {
	c, err := s.sessions.tokens.read(token)
	if err != nil {
		return Caller{}, err
	}
	a, err := s.sessions.active(ctx, activeSessions+`s.id = $1`, c.ID)
	if err != nil {
		return Caller{}, err
	}
	if a.User != c.Subject || a.Account != c.Account || a.Version != c.Version || (a.Kind == KindScoped) != (c.Scope != nil) {
		return Caller{}, ErrToken
	}
	caller := a.caller()
	if c.Scope != nil {
		caller.Scoped, caller.Owner, caller.Permissions = true, false, Effective(caller.Permissions, *c.Scope)
	}
	return caller, nil
}
