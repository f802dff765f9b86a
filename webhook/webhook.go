package webhook

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

// ErrNotFound reports an endpoint that does not exist, or belongs to another
// account.
var ErrNotFound = apierr.New("webhook", apierr.NotFound, "there is no such webhook")

// Dispatcher keeps endpoints and delivers events to them. It is safe for
// concurrent use, and any number of processes may run one on the same
// PostgreSQL.
type Dispatcher struct {
	db      *database.DB
	opts    Options
	sealer  delivery.Sealer
	guard   *guard.Guard
	formats *formats
	router  *delivery.Router
	sender  *delivery.Sender
	queue   *queue.Queue
	used    *usagecounter.Counter
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
	clock, sign := d.opts.Now, d.opts.Now
	err := d.defaults()
	if err != nil {
		return nil, err
	}
	if d.sealer.Keys, err = keyring.New("webhook", d.opts.Secrets); err != nil {
		return nil, fmt.Errorf("webhook: Options.Secrets: %w", err)
	}
	d.opts.Secrets = nil // so that they are not printed by mistake
	if d.db, err = database.Prepare(ctx, db, "webhook", Migrate); err != nil {
		return nil, err
	}
	if clock == nil { // receivers compare what is signed with their own clocks: the database's may be wrong
		d.opts.Now, sign = clockstep.Now(ctx, d.db), time.Now
	}
	if d.guard, err = guard.New(d.opts.Allow); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if err := d.reseal(ctx); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	clockstep.Register(d.db, "deferred webhook", clockstep.Column("webhook_deferred", "until_us", "")) // they are locked before the queue
	d.assemble(sign)
	d.queue, err = queue.New(ctx, db, queue.Options{
		Name: "webhook", Load: d.sender.Load, Handle: d.sender.Handle, Complete: d.sender.Complete, OnComplete: d.sender.OnComplete,
		Workers: d.opts.Workers, Cap: d.opts.Cap, Timeout: d.opts.Timeout, Lease: d.opts.Lease, Exclusive: d.opts.Exclusive, Logger: d.opts.Logger, Now: clock,
	})
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return d, nil
}

// assemble makes the parts of d that bring events to endpoints, which sign requests with
// the time of a clock.
func (d *Dispatcher) assemble(sign func() time.Time) {
	o := &d.opts
	d.formats = &formats{byName: o.Formats, log: o.Logger, now: sign}
	d.router = &delivery.Router{DB: d.db, Formats: d.formats}
	d.sender = &delivery.Sender{
		DB: d.db, Log: o.Logger, Now: sign, Timeout: o.Timeout, Policy: o.Policy, Client: d.guard.Client(),
		Sealer: d.sealer, Formats: d.formats, Trace: o.Trace, Observer: o.Observer, UserAgent: o.UserAgent, HeaderPrefix: o.HeaderPrefix,
	}
	if o.Echo != nil {
		d.sender.Echo = o.Echo.receive
	}
	if o.Sink != nil {
		d.sender.Record = d.record
	}
	d.used = d.counter()
}

// record hands results to the sink.
func (d *Dispatcher) record(ctx context.Context, tx *database.Tx, rs []*delivery.Result) error {
	as := make([]Attempted, len(rs))
	for i, r := range rs {
		as[i] = attemptedOf(r)
	}
	if err := d.opts.Sink.AttemptsTx(ctx, tx, as); err != nil {
		return fmt.Errorf("telling %T: %w", d.opts.Sink, err)
	}
	return nil
}

func attemptedOf(r *delivery.Result) Attempted {
	a := Attempted{Account: r.Target.Account, Scope: r.Target.Scope, Number: r.Tries + 1, Delivery: Delivery{
		ID: r.Event.DeliveryID(r.Target.ID), EndpointID: r.Target.ID, EventID: r.Event.ID, Event: r.Event.Type,
		ChatID: r.Event.ChatID, MessageID: r.Event.MessageID, Sequence: r.Seq,
		State: r.Outcome, Attempts: []Attempt{r.Attempt}, CreatedAt: r.Event.Time(),
	}}
	if r.Outcome == "" {
		a.Delivery.State = DeliveryPending
	}
	return a
}

func (d *Dispatcher) defaults() error {
	o := &d.opts
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	if o.Timeout < 0 || o.Retention < 0 || o.Lease < 0 {
		return errors.New("webhook: a duration of Options is negative")
	}
	o.Policy, o.Formats, o.Types = o.Policy.WithDefaults(), maps.Clone(o.Formats), slices.Clone(o.Types)
	o.UserAgent, o.HeaderPrefix = cmp.Or(o.UserAgent, "Webhook"), cmp.Or(o.HeaderPrefix, "Webhook-")
	if !isHeaderValue(o.UserAgent) || !isToken(o.HeaderPrefix) {
		return errors.New("webhook: Options.UserAgent or Options.HeaderPrefix is malformed")
	}
	for name, f := range o.Formats {
		if f == nil {
			return fmt.Errorf("webhook: Options.Formats[%q] is nil", name)
		}
	}
	return types(o.Types).check()
}

// Run delivers until ctx ends and the requests under way are finished or
// handed back.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.sender.Client.CloseIdleConnections()
	g, gctx := errgroup.WithContext(ctx)
	clockstep.Watch(gctx, d.db, d.opts.Logger)
	g.Go(func() error { return d.queue.Run(gctx) })
	g.Go(func() error { return d.prune(gctx) })
	g.Go(func() error { return d.releaseDue(gctx) })
	g.Go(func() error { return d.used.Run(gctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// Notify has the workers look for work now. Call it when the clock of
// [Options].Now has leapt.
func (d *Dispatcher) Notify() { d.queue.Notify() }

func (d *Dispatcher) now() time.Time { return d.opts.Now() }
