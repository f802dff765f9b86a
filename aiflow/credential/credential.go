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

// OneAccount is the id of the account in programs that have only one.
const OneAccount = "one"

var (
	// ErrNotFound reports a credential that does not exist, or belongs to
	// another account.
	ErrNotFound = apierr.New("credential", apierr.NotFound, "there is no such credential")
	// ErrHost reports a request to a host that the credential does not allow.
	ErrHost = errors.New("credential: the credential is not for this host")
	// ErrPlain reports a request that would carry a credential in clear text.
	ErrPlain = errors.New("credential: credentials are sent over https only")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, kind, field, username, secret, hosts, limit and cursor.
type Invalid = apierr.Invalid

// Options configures a [Service].
type Options struct {
	// Secrets seal credentials. Each has at least 32 characters; the newest comes
	// first. The first one seals, all of them open. [New] seals values of later
	// secrets again with the first, so that those secrets can be removed. Other
	// packages may use the same secrets. nil: credentials cannot be created.
	Secrets []string
	// Allow lists networks and hosts to which credentials may also be sent over
	// plain http. nil: none.
	Allow []string
	Now   func() time.Time // nil: time.Now
}

// Service stores credentials. It is safe for concurrent use. Any number of
// processes may run one on the same PostgreSQL database.
type Service struct {
	db    *database.DB
	keys  *keyring.Ring // nil: no secrets
	guard *guard.Guard
	now   func() time.Time
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the table of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "credential", migrations)
}

// New returns a Service over db. It creates or upgrades its table. It returns an
// error if the database has credentials that none of the secrets can open.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	s := &Service{now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "credential", Migrate); err != nil {
		return nil, err
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

// Account is the part of a [Service] that belongs to one account. It finds nothing
// that belongs to another account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
