// Package auth keeps the accounts and users of a server, their passwords and
// the tokens that name them. It knows no HTTP route: the server reads the
// Authorization header, this package says whose it is.
//
// A user belongs to one account. Signing up makes an account and its first
// user, who has every permission.
//
//	svc, err := auth.New(ctx, db, &auth.Options{Secrets: []string{secret}}) // after auth.Migrate
//	session, err := svc.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
//	caller, err := svc.Authenticate(ctx, session.Token)
package auth

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
)

// Options configures a [Service]. Secrets is required.
type Options struct {
	// Secrets sign tokens: each has at least 32 characters, the newest comes
	// first. The first signs, all verify. Other packages may be given the same
	// ones.
	Secrets []string
	// Closed lets only the first account sign up.
	Closed bool
	// Logger is told of failed logins. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// Service keeps accounts and users. It is safe for concurrent use.
type Service struct {
	db      *database.DB
	tokens  tokens
	opts    Options
	hashes  chan struct{} // held while a password is hashed: 19 MiB each
	users   cache[knownUser]
	scoped  cache[struct{}] // scoped tokens that are not revoked
	cookies cache[cookieRow]
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "auth", migrations)
}

// New returns a Service over db, whose tables [Migrate] has made.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	s := &Service{db: d, hashes: make(chan struct{}, 2)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	keys, err := keyring.New("auth", s.opts.Secrets)
	if err != nil {
		return nil, fmt.Errorf("auth: Options.Secrets: %w", err)
	}
	s.opts.Secrets = nil // nobody prints them by mistake
	s.tokens = newTokens(keys.Keys("jwt"), s.opts.Now)
	return s, nil
}

// purgeEvery is how often counters that have ended are deleted.
const purgeEvery = 10 * time.Minute

// Run deletes what has expired until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		if err := s.purgeLimits(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.WarnContext(ctx, "purging login counters", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
