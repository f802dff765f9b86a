// Package auth keeps the accounts and users of a server, their passwords, and
// the tokens and cookie sessions that name them. It knows no HTTP route: the
// server reads the Authorization header or the cookie, this package says whose
// it is. Nor does it send mail: it makes the links by which a forgotten
// password is replaced, and calls a function that sends them.
//
// A user belongs to one account. Signing up makes an account and its first
// user, an owner, who has every permission, adds others and makes tokens for
// programs.
//
// A [Service] signs up, logs in and authenticates. What it keeps is grouped by
// subject: [Service.Users], [Service.Sessions], [Service.Tokens],
// [Service.Invitations], [Service.SecondFactor], [Service.Passkeys] and
// [Service.Accounts].
//
//	svc, err := auth.New(ctx, db, &auth.Options{Secrets: []string{secret}})
//	session, err := svc.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
//	caller, err := svc.Authenticate(ctx, session.Token)
package auth

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
)

// Options configures a [Service]. Secrets is required.
type Options struct {
	// Secrets sign tokens: each has at least 32 characters, the newest comes
	// first. The first signs, all verify. Other packages may be given the same
	// ones.
	Secrets []string
	// Closed lets only the first account sign up.
	Closed bool
	// Cost is what a hash of a password takes. The zero value: two passes over
	// 19 MiB, about 30 ms.
	Cost Cost
	// SendReset sends a link to set a new password, made of the token, by which
	// it is authorized; it returns once a mail server has taken it. It is called
	// in [Service.Run], again when it fails with anything but
	// [ErrUndeliverable]. nil: no link is ever sent.
	SendReset func(ctx context.Context, to User, token string) error
	// SendInvitation sends a link to accept an invitation, made of the token, as
	// SendReset does. nil: the inviter gets the token.
	SendInvitation func(ctx context.Context, to Invitation, token string) error
	// SendSignUp sends a link to confirm a sign-up, made of the token, as
	// SendReset does; with the token "" it tells a user that the e-mail, with
	// which a sign-up named, has an account already. nil: a sign-up
	// needs no confirmation.
	SendSignUp func(ctx context.Context, email, token string) error
	// HasReferences says whether an account has all of some references, so that
	// a permission may be limited to them. nil: no permission can be limited.
	HasReferences func(ctx context.Context, account string, ids []int64) (bool, error)
	// Site is where browsers find the server: passkeys are bound to it. The zero
	// value: no passkey can be added or used.
	Site passkey.Site
	// Logger is told of failed logins. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// Service keeps accounts and users. It is safe for concurrent use.
type Service struct {
	db        *database.DB
	opts      Options
	mails     *queue.Queue // nil: no link is ever sent
	limits    *limits
	devices   *devices
	passwords *passwords

	users       *Users
	sessions    *Sessions
	tokens      *Tokens
	invitations *Invitations
	factor      *SecondFactor
	passkeys    *Passkeys
	accounts    *Accounts
}

// Users returns the users of accounts.
func (s *Service) Users() *Users { return s.users }

// Sessions returns the sessions of users.
func (s *Service) Sessions() *Sessions { return s.sessions }

// Tokens returns the scoped tokens of users.
func (s *Service) Tokens() *Tokens { return s.tokens }

// Invitations returns the invitations into accounts.
func (s *Service) Invitations() *Invitations { return s.invitations }

// SecondFactor returns the second factors of users.
func (s *Service) SecondFactor() *SecondFactor { return s.factor }

// Passkeys returns the passkeys of users.
func (s *Service) Passkeys() *Passkeys { return s.passkeys }

// Accounts returns the accounts, to be closed and erased.
func (s *Service) Accounts() *Accounts { return s.accounts }

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	if err := database.Migrate(ctx, db, "auth", migrations); err != nil {
		return err
	}
	return errors.Join(secondfactor.Migrate(ctx, db), oidc.Migrate(ctx, db), passkey.Migrate(ctx, db))
}

// New returns a Service over db, and creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Prepare(ctx, db, "auth", Migrate)
	if err != nil {
		return nil, err
	}
	clockstep.Register(d, "auth", clockstep.All(clockstep.Column("auth_account", "taken_us", ""), clockstep.Column("auth_limit", "ends_us", "")))
	s := &Service{db: d}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.opts.Cost = s.opts.Cost.withDefaults()
	keys, err := keyring.New("auth", s.opts.Secrets)
	if err != nil {
		return nil, fmt.Errorf("auth: Options.Secrets: %w", err)
	}
	s.opts.Secrets = nil // so that they are not printed by mistake
	factors, err := secondfactor.New(ctx, d, keys, s.opts.Now)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	keyStore, err := passkey.New(d, s.opts.Site, s.opts.Now)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	if s.opts.SendReset != nil || s.opts.SendInvitation != nil || s.opts.SendSignUp != nil {
		s.mails, err = queue.New(ctx, db, queue.Options{
			Name: "mail", Handle: s.handleMail, Workers: mailWorkers, Lease: mailLease, Logger: s.opts.Logger,
		})
		if err != nil {
			return nil, fmt.Errorf("auth: %w", err)
		}
	}
	s.assemble(keys, factors, keyStore)
	return s, nil
}

// assemble makes the parts of s, each with what it needs.
func (s *Service) assemble(keys *keyring.Ring, factors *secondfactor.Store, keyStore *passkey.Store) {
	db, now, log := s.db, s.opts.Now, s.opts.Logger
	s.devices = &devices{keys: keys}
	s.limits = &limits{db: db, now: now, devices: s.devices}
	s.passwords = &passwords{db: db, log: log, limits: s.limits, hashes: newHasher(s.opts.Cost, hashesAtOnce)}
	s.users = &Users{db: db, now: now, passwords: s.passwords, closed: s.opts.Closed, hasReferences: s.opts.HasReferences}
	s.sessions = &Sessions{db: db, now: now, log: log, users: s.users, tokens: newSigner(keys.Keys("jwt"), now)}
	s.tokens = &Tokens{db: db, now: now, users: s.users, sessions: s.sessions}
	s.invitations = &Invitations{
		db: db, now: now, limits: s.limits, users: s.users, sessions: s.sessions, mails: s.mails, mail: s.opts.SendInvitation,
	}
	s.factor = &SecondFactor{db: db, log: log, store: factors, limits: s.limits, users: s.users}
	s.passkeys = &Passkeys{
		db: db, log: log, store: keyStore, limits: s.limits, devices: s.devices,
		passwords: s.passwords, users: s.users, sessions: s.sessions,
	}
	s.accounts = &Accounts{db: db, now: now, log: log}
}

// purgeInterval is how often what has ended is deleted.
const purgeInterval = 10 * time.Minute

// Run deletes what has expired and sends mails until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	clockstep.Watch(gctx, s.db, s.opts.Logger)
	g.Go(func() error { return s.purging(gctx) })
	if s.mails != nil {
		g.Go(func() error { return s.mails.Run(gctx) })
	}
	return g.Wait()
}

func (s *Service) purging(ctx context.Context) error {
	return periodic.Run(ctx, purgeInterval, nil, s.opts.Logger, "deleting what has expired", s.purge)
}

// originTTL is how long it is remembered from where a user has logged in.
const originTTL = 90 * 24 * time.Hour

// purge deletes what has expired, a few hundred rows with one commit.
func (s *Service) purge(ctx context.Context) error {
	now := s.opts.Now()
	for _, p := range []struct {
		table, key, at string
		before         time.Time
	}{
		{"auth_limit", "name", "ends_us", now},
		{"auth_origin", "user_id, address", "seen_us", now.Add(-originTTL)},
		{"auth_reset", "hash", "expires_us", now},
		{"auth_invitation", "id", "expires_us", now},
		{"auth_signup", "id", "expires_us", now},
		{"auth_session", "id", "expires_us", now},
	} {
		err := s.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s <= $1 LIMIT %[4]d)`,
			p.table, p.key, p.at, smallRows), database.Micros(p.before))
		if err != nil {
			return err
		}
	}
	return s.db.Write(ctx, func(tx *database.Tx) error { return passkey.SweepTx(ctx, tx, now) })
}
