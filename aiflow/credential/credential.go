package credential

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
)

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

var (
	// ErrNotFound reports a credential that does not exist, or belongs to
	// another account.
	ErrNotFound = apierr.New("credential", apierr.NotFound, "there is no such credential")
	// ErrHost reports a request to a host that a credential is not for.
	ErrHost = errors.New("credential: it is not for this host")
	// ErrPlain reports a request that would carry a credential in clear text.
	ErrPlain = errors.New("credential: it is sent over https only")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, kind, field, username, secret, hosts, limit and cursor.
type Invalid = apierr.Invalid

// Options configures a [Service].
type Options struct {
	// Secrets seal what is kept: each has at least 32 characters, the newest
	// comes first. The first seals, all open, and [New] seals again what a later
	// one sealed, so that it can go. Other packages may be given the same ones.
	// nil: credentials are refused.
	Secrets []string
	// Allow names networks and hosts to which credentials are sent over plain
	// http, too. nil: none.
	Allow []string
	Now   func() time.Time // nil: time.Now
}

// Service keeps credentials. It is safe for concurrent use, and any number of
// processes may run one on the same PostgreSQL.
type Service struct {
	db    *database.DB
	keys  *keyring.Ring // nil: there are no secrets
	guard *guard.Guard
	now   func() time.Time
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the table of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "credential", migrations)
}

// New returns a Service over db, and creates or upgrades its table. It fails when
// the database holds credentials that none of the secrets opens.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	s := &Service{now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	var err error
	if s.db, err = database.Of(ctx, db); err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	if s.guard, err = guard.New(o.Allow); err != nil {
		return nil, fmt.Errorf("credential: Options.Allow: %w", err)
	}
	if o.Secrets != nil {
		if s.keys, err = keyring.New("credential", o.Secrets); err != nil {
			return nil, fmt.Errorf("credential: Options.Secrets: %w", err)
		}
	}
	if err := s.reseal(ctx); err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	return s, nil
}

// Account is the share of a [Service] that belongs to one account. What
// belongs to another is not found.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
