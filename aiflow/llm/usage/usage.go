package usage

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
)

// OneAccount is the id of the account in programs that have only one.
const OneAccount = "one"

// Options configures a [Ledger].
type Options struct {
	// Prices is a file or an http or https URL with prices that take precedence
	// over the built-in ones; see [ParsePrices] for the format. It is read every
	// day and stored in the database. "": only the built-in prices.
	Prices string
	// Client fetches Prices. nil: http.DefaultClient.
	Client *http.Client
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Ledger records calls of models. It is safe for concurrent use. Any number of
// processes may have one on the same PostgreSQL database; budgets apply across all
// of them.
type Ledger struct {
	db     *database.DB
	opts   Options
	source *source // nil: none
	prices atomic.Pointer[tables]
}

//go:embed migrations/*.sql
var migrations embed.FS

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
type Invalid = apierr.Invalid

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "usage", migrations)
}

// New returns a Ledger over db. It creates or upgrades its tables. A file of prices
// that cannot be read is an error. [Ledger.Run] fetches prices from a URL.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Ledger, error) {
	l := &Ledger{}
	if opts != nil {
		l.opts = *opts
	}
	l.opts.Client = cmp.Or(l.opts.Client, http.DefaultClient)
	l.opts.Logger = cmp.Or(l.opts.Logger, slog.Default())
	if l.opts.Now == nil {
		l.opts.Now = time.Now
	}
	var err error
	if l.db, err = database.Prepare(ctx, db, "usage", Migrate); err != nil {
		return nil, err
	}
	if err := l.openPrices(ctx); err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	return l, nil
}

// Account is the part of a [Ledger] that belongs to one account.
type Account struct {
	l  *Ledger
	id string
}

// For returns the ledger of one account.
func (l *Ledger) For(account string) *Account { return &Account{l: l, id: account} }
