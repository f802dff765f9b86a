// Package billing keeps the state of the accounts of a server with the service that bills
// them, as Stripe's notifications say. It makes no call to Stripe and knows no
// price: another program sells, and gives each subscription the metadata
// account, by which it is found here.
//
//	svc, err := billing.New(ctx, db, &billing.Options{Secret: "whsec_…"})
//	outcome, err := svc.Receive(ctx, body, r.Header.Get("Stripe-Signature"))
//	sub, err := svc.Subscription(ctx, account)
//
// Notifications come in any order and more than once: one that is older than
// the last applied changes nothing, and ids are remembered for 30 days.
package billing

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Subscription is the state of an account with the service that bills it.
type Subscription struct {
	Account          string
	Plan             string    // "": unknown
	Status           string    // in the words of Stripe: "active", "past_due", "canceled"; "": there is none
	CurrentPeriodEnd time.Time // zero: unknown
}

// Options configures a [Service].
type Options struct {
	// Secret is the signing secret of Stripe's webhook endpoint. "": every
	// notification is refused with [ErrNoSecret].
	Secret string
	// Known says whether an account exists, and keeps it from being deleted
	// until tx ends. nil: every account does.
	Known func(ctx context.Context, tx *sqlx.Tx, account string) (bool, error)
	// Changed is told of each change in the transaction that makes it, in the
	// order of the changes of an account; Committed is called after the commit.
	// nil: nothing is.
	Changed   func(ctx context.Context, tx *sqlx.Tx, sub Subscription) error
	Committed func()
	// Received counts notifications by what became of them. nil: nothing is
	// counted.
	Received func(Outcome)
	// Logger is told what belongs to no account. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock by which what was remembered is forgotten; signatures
	// are checked by the machine's. nil: time.Now.
	Now func() time.Time
}

// Service keeps subscriptions. It is safe for concurrent use, by any number of
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

// New returns a Service over db, and creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("billing: %w", err)
	}
	s := &Service{db: d}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("billing: %w", err)
	}
	return s, nil
}

// Subscription is how an account stands now; of one that was never billed it
// says nothing but the account.
func (s *Service) Subscription(ctx context.Context, account string) (Subscription, error) {
	row := row{Account: account}
	err := s.db.GetContext(ctx, &row, `SELECT `+columns+` FROM billing_subscription WHERE account = $1`, account)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Subscription{}, fmt.Errorf("reading a subscription: %w", err)
	}
	return row.public(), nil
}

// Forget deletes what is known of an account.
func (s *Service) Forget(ctx context.Context, account string) error {
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
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
	eventTTL      = 30 * 24 * time.Hour // how long the ids of notifications are remembered
	deadTTL       = 90 * 24 * time.Hour
	pruneInterval = time.Hour
	pruneChunk    = 500
)

// Run deletes what is past its time until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	for {
		if err := s.prune(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.WarnContext(ctx, "deleting old payment notifications", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
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
