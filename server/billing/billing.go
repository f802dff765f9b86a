// Package billing stores the subscriptions of accounts as Stripe's notifications
// report them. It makes no calls to Stripe and does not know prices: another
// program sells subscriptions, and gives each the metadata account, which
// identifies the account here.
//
//	svc, err := billing.New(ctx, db, &billing.Options{Secret: "whsec_…"})
//	outcome, err := svc.Receive(ctx, body, r.Header.Get("Stripe-Signature"))
//	sub, err := svc.Subscription(ctx, account)
//
// Notifications arrive in any order, and more than once. One that is older than the
// last applied changes nothing. Ids are remembered for 30 days.
package billing

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// Subscription is the subscription of an account.
type Subscription struct {
	Account          string
	Plan             string    // "": unknown
	Status           string    // status of Stripe: "active", "past_due", "canceled"; "": none
	CurrentPeriodEnd time.Time // zero: unknown
}

// Options configures a [Service].
type Options struct {
	// Secret is the signing secret of Stripe's webhook endpoint. "": every
	// notification is refused with [ErrNoSecret].
	Secret string
	// Known reports whether an account exists, and locks it so that it is not
	// deleted until tx ends. nil: every account exists.
	Known func(ctx context.Context, tx Tx, account string) (bool, error)
	// Changed is called for each change in the transaction that makes it, in the
	// order of the changes of an account. nil: nothing is called.
	Changed func(ctx context.Context, tx Tx, sub Subscription) error
	// Received is called with the outcome of each notification. nil: nothing is
	// called.
	Received func(Outcome)
	// Logger logs notifications that belong to no account. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock for deleting old notifications. Signatures are checked with
	// the machine's clock. nil: time.Now.
	Now func() time.Time
}

// Service stores subscriptions. It is safe for concurrent use, also by several
// nodes.
type Service struct {
	db   *database.DB
	opts Options
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "billing", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Prepare(ctx, db, "billing", Migrate)
	if err != nil {
		return nil, err
	}
	s := &Service{db: d}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	return s, nil
}

// Subscription returns the subscription of an account. If the account was never
// billed only Account is set.
func (s *Service) Subscription(ctx context.Context, account string) (Subscription, error) {
	row := row{Account: account}
	err := s.db.GetContext(ctx, &row, `SELECT `+columns+` FROM billing_subscription WHERE account = $1`, account)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Subscription{}, fmt.Errorf("reading a subscription: %w", err)
	}
	return row.public(), nil
}

// Forget deletes the subscription of an account.
func (s *Service) Forget(ctx context.Context, account string) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		for _, q := range []string{
			`DELETE FROM billing_dead WHERE account = $1`,
			`DELETE FROM billing_dead WHERE customer IN (SELECT customer FROM billing_customer WHERE account = $1)`,
			`DELETE FROM billing_customer WHERE account = $1`,
			`DELETE FROM billing_subscription WHERE account = $1`,
		} {
			if _, err := tx.ExecContext(ctx, q, account); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgetting a subscription: %w", err)
	}
	return nil
}

const (
	eventTTL      = 30 * 24 * time.Hour // how long ids of notifications are remembered
	deadTTL       = 90 * 24 * time.Hour
	pruneInterval = time.Hour
	pruneChunk    = 500
)

// Run deletes old notifications until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	return periodic.Run(ctx, pruneInterval, nil, s.opts.Logger, "deleting old payment notifications", s.prune)
}

func (s *Service) prune(ctx context.Context) error {
	for table, ttl := range map[string]time.Duration{"billing_event": eventTTL, "billing_dead": deadTTL} {
		err := s.db.InSteps(ctx, `DELETE FROM `+table+` WHERE id IN (SELECT id FROM `+table+` WHERE seen_us < $1 LIMIT $2)`,
			database.Micros(s.opts.Now().Add(-ttl)), pruneChunk)
		if err != nil {
			return err
		}
	}
	return nil
}
