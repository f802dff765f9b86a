package webhook

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
)

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

// ErrNotFound reports an endpoint that does not exist, or belongs to another
// account.
var ErrNotFound = apierr.New("webhook", apierr.NotFound, "there is no such webhook")

// Options configures a [Dispatcher]. Secrets is required.
type Options struct {
	// Secrets seal signing secrets and header values at rest: each has at
	// least 32 characters, the newest comes first. The first seals, all open,
	// and [New] seals again what a later one sealed, so that it can go. Other
	// packages may be given the same ones. They do not sign deliveries.
	Secrets []string
	// Allow lists networks, addresses and hosts, each with or without a port,
	// that endpoints may have although they are private.
	Allow []string
	// Echo receives what goes to [EchoURL]. nil: that URL is refused.
	Echo *Echo
	// Formats are the forms, beside [OwnFormat], in which endpoints may ask for
	// their events, by their names.
	Formats map[string]Format
	// Policy says what follows a failure. Its zero value is the usual one.
	Policy Policy
	// Timeout bounds one attempt; 0: 15 s.
	Timeout time.Duration
	// Cap is the most requests under way to one endpoint from this process;
	// 0: 16.
	Cap int
	// Workers is the most requests under way from this process; 0: 64. Those
	// that take longer than 250 ms do not count, up to four times as many.
	Workers int
	// Retention is how long events and the delivery log are kept, pending
	// deliveries included: give it more than the days an event is retried for.
	// 0: for ever.
	Retention time.Duration
	// Lease is how long a process that is frozen, or cut off from the database,
	// keeps what it has in hand; another one takes it over then, or when the
	// process has not been heard of for 10 s. 0: 60 s.
	Lease time.Duration
	// Exclusive says that no other process uses the database, so that what a
	// killed predecessor held is taken up at once.
	Exclusive bool
	// Sink is told of every attempt. nil: nothing is told.
	Sink Sink
	// Trace begins the span of an attempt, "webhook.deliver", below parent, the
	// W3C traceparent of what the event follows from, or "". It returns the
	// context of the attempt, the span's own traceparent, which the request
	// carries as the header traceparent, and what ends the span, with ids, kinds
	// and counts. nil: nothing is traced.
	Trace func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	// Observer counts what an operator watches. nil: nothing is counted.
	Observer *Observer
	Logger   *slog.Logger // nil: slog.Default()
	// Now is the clock by which events wait, secrets rotate and logs age; it
	// may be ahead of time, but must continue. nil: time.Now, and the database's
	// for what waits.
	Now func() time.Time
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	Attempted func(outcome string, duration time.Duration) // "delivered", "retried", "paused", "failed", "dead"
	// Finished is told of every delivery that is over ("delivered", "failed",
	// "dead"), and how long after its event.
	Finished func(outcome string, after time.Duration)
	Paused   func() // an endpoint went down
	Disabled func() // an endpoint answered 410 or was down for too long
}

func (o *Observer) attempted(outcome string, duration time.Duration) {
	if o != nil && o.Attempted != nil {
		o.Attempted(outcome, duration)
	}
}

func (o *Observer) finished(outcome string, after time.Duration) {
	if o != nil && o.Finished != nil {
		o.Finished(outcome, after)
	}
}

func (o *Observer) paused() {
	if o != nil && o.Paused != nil {
		o.Paused()
	}
}

func (o *Observer) disabled() {
	if o != nil && o.Disabled != nil {
		o.Disabled()
	}
}

// Dispatcher keeps endpoints and delivers events to them. It is safe for
// concurrent use, and any number of processes may run one on the same
// PostgreSQL.
type Dispatcher struct {
	db       *database.DB
	opts     Options
	keys     *keyring.Ring
	guard    *guard.Guard
	client   *http.Client
	queue    *queue.Queue
	used     *usagecounter.Counter
	targets  targetCache
	breakers breakers

	published atomic.Int64 // when something that an endpoint hears was last published, in ns
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	if err := usagecounter.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "webhook", migrations)
}

// New returns a Dispatcher over db, and creates or upgrades its tables. It fails
// when the database holds what none of the secrets opens.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Dispatcher, error) {
	d := &Dispatcher{}
	if opts != nil {
		d.opts = *opts
	}
	clock := d.opts.Now
	err := d.defaults()
	if err != nil {
		return nil, err
	}
	if d.keys, err = keyring.New("webhook", d.opts.Secrets); err != nil {
		return nil, fmt.Errorf("webhook: Options.Secrets: %w", err)
	}
	d.opts.Secrets = nil // so that they are not printed by mistake
	if d.db, err = database.Of(ctx, db); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if d.guard, err = guard.New(d.opts.Allow); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if err := d.reseal(ctx); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	d.client = d.guard.Client()
	d.used = d.counter()
	d.queue, err = queue.New(ctx, db, queue.Options{
		Name: "webhook", Route: d.route, Load: d.load, Handle: d.handle, Complete: d.complete, OnComplete: d.completed,
		Workers: d.opts.Workers, Cap: d.opts.Cap, Timeout: d.opts.Timeout, Lease: d.opts.Lease, Exclusive: d.opts.Exclusive, Logger: d.opts.Logger, Now: clock,
	})
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return d, nil
}

func (d *Dispatcher) defaults() error {
	o := &d.opts
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Timeout < 0 || o.Retention < 0 || o.Lease < 0 {
		return errors.New("webhook: a duration of Options is negative")
	}
	o.Policy, o.Formats = o.Policy.withDefaults(), maps.Clone(o.Formats)
	return nil
}

// Run delivers until ctx ends and the requests under way are finished or
// handed back.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.client.CloseIdleConnections()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.queue.Run(gctx) })
	g.Go(func() error { return d.prune(gctx) })
	g.Go(func() error { return d.releaseDue(gctx) })
	g.Go(func() error { return d.used.Run(gctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// Committed tells the workers to look for work now. Call it after the commit
// of a transaction that was given to [Dispatcher.PublishTx].
func (d *Dispatcher) Committed() {
	if time.Since(time.Unix(0, d.published.Load())) < maxCommit {
		d.queue.Notify()
	}
}

// maxCommit is how long after a publication its transaction may commit and
// still have its workers woken, instead of found by polling.
const maxCommit = time.Minute

func (d *Dispatcher) now() time.Time { return d.opts.Now() }
