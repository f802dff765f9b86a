package auth

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Caller is who makes a request.
type Caller struct {
	User        string
	Account     string
	Permissions []Permission // to be read only
	TokenID     string
}

// Can says whether the caller has a permission.
func (c Caller) Can(p Permission) bool { return slices.Contains(c.Permissions, p) }

// Authenticate says whose token it is, with the rights that he has now: a
// change of rights or a password holds within two seconds on every node. It
// returns [ErrToken] when the token is not, or no longer, valid.
func (s *Service) Authenticate(ctx context.Context, token string) (Caller, error) {
	c, err := s.tokens.read(token)
	if err != nil {
		return Caller{}, err
	}
	u, err := s.cached(ctx, c.Subject)
	if errors.Is(err, ErrNotFound) {
		return Caller{}, ErrToken
	}
	if err != nil {
		return Caller{}, err
	}
	if u.version != c.Version || u.account != c.Account {
		return Caller{}, ErrToken
	}
	return Caller{User: c.Subject, Account: u.account, Permissions: u.permissions, TokenID: c.ID}, nil
}

const (
	cacheLife = 2 * time.Second
	cacheSize = 10_000
)

// userCache saves a query a request.
type userCache struct {
	mu    sync.Mutex
	users map[string]cachedUser
}

type cachedUser struct {
	account     string
	version     int64
	permissions []Permission
	until       time.Time
}

func (s *Service) cached(ctx context.Context, id string) (cachedUser, error) {
	now := s.opts.Now()
	s.users.mu.Lock()
	u, ok := s.users.users[id]
	s.users.mu.Unlock()
	if ok && now.Before(u.until) {
		return u, nil
	}
	row, err := s.row(ctx, "id", id)
	if err != nil {
		return cachedUser{}, err
	}
	u = cachedUser{row.Account, row.Version, splitPermissions(row.Permissions), now.Add(cacheLife)}
	s.users.mu.Lock()
	defer s.users.mu.Unlock()
	if s.users.users == nil || len(s.users.users) >= cacheSize {
		s.users.users = map[string]cachedUser{} // most of it has expired
	}
	s.users.users[id] = u
	return u, nil
}
