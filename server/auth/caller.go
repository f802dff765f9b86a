package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Caller is who makes a request.
type Caller struct {
	User        string
	Account     string
	Permissions []Permission // to be read only
	TokenID     string       // of the token, or of the cookie session
	Scoped      bool         // it is a scoped token: a program's, with some of the user's rights
	Cookie      bool         // it is a cookie session: a person's in a browser
}

// Can says whether the caller has a permission.
func (c Caller) Can(p Permission) bool { return slices.Contains(c.Permissions, p) }

// lacks says whether any of ps is a right that the caller has not.
func (c Caller) lacks(ps []Permission) bool {
	return slices.ContainsFunc(ps, func(p Permission) bool { return !c.Can(p) })
}

// Authenticate says whose token it is, with the rights that he has now, cut
// down to those of the token when it is a scoped one. A change of rights, a
// new password or a revocation holds within two seconds on every node. It
// returns [ErrToken] when the token is not, or no longer, valid.
func (s *Service) Authenticate(ctx context.Context, token string) (Caller, error) {
	c, err := s.tokens.read(token)
	if err != nil {
		return Caller{}, err
	}
	caller, err := s.caller(ctx, c.Subject, c.Version)
	if err != nil {
		return Caller{}, err
	}
	if caller.Account != c.Account {
		return Caller{}, ErrToken
	}
	caller.TokenID = c.ID
	if c.Scope == nil {
		return caller, nil
	}
	caller.Scoped, caller.Permissions = true, both(caller.Permissions, *c.Scope)
	return caller, s.unrevoked(ctx, c.ID)
}

// caller is a user with the rights that he has now, if version is still his.
func (s *Service) caller(ctx context.Context, id string, version int64) (Caller, error) {
	now := s.opts.Now()
	u, ok := s.users.get(id, now)
	if !ok {
		row, err := s.row(ctx, "id", id)
		if errors.Is(err, ErrNotFound) {
			return Caller{}, ErrToken
		}
		if err != nil {
			return Caller{}, err
		}
		u = knownUser{row.Account, row.Version, splitPermissions(row.Permissions), row.Disabled != 0}
		s.users.put(id, u, now)
	}
	if u.version != version || u.disabled {
		return Caller{}, ErrToken
	}
	return Caller{User: id, Account: u.account, Permissions: u.permissions}, nil
}

// knownUser is what a request needs to know of its user.
type knownUser struct {
	account     string
	version     int64
	permissions []Permission
	disabled    bool
}

// unrevoked returns [ErrToken] unless a scoped token is still in the list.
func (s *Service) unrevoked(ctx context.Context, id string) error {
	now := s.opts.Now()
	if _, ok := s.scoped.get(id, now); ok {
		return nil
	}
	var one int
	err := s.db.GetContext(ctx, &one, `SELECT 1 FROM auth_token WHERE id = $1`, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrToken
	case err != nil:
		return fmt.Errorf("looking for a token: %w", err)
	}
	s.scoped.put(id, struct{}{}, now)
	return nil
}

// both are the permissions of a that b has too.
func both(a, b []Permission) []Permission {
	out := []Permission{}
	for _, p := range a {
		if slices.Contains(b, p) {
			out = append(out, p)
		}
	}
	return out
}
