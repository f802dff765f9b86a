package messaging

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

// Options configures a [Service].
type Options struct {
	// Providers are the kinds of references that references may have.
	Providers []provider.Provider
	// Secrets seal the credentials of references at rest: each has at least 32
	// characters, the newest comes first. The first seals, all open, and [New]
	// seals anew what a later one sealed, so that it can go. Other packages may
	// be given the same ones. nil: credentials are refused.
	Secrets []string
	// Media keeps the files of messages; the caller runs it and serves its
	// links. nil: messages come without their files, and none can be sent.
	Media *media.Library
	// Allow names networks and hosts that files may be fetched from although
	// they are private or loopback. nil: none.
	Allow []string
	// Sinks are told what happened.
	Sinks []Sink
	// Retention is how long messages are kept; 0: for ever.
	Retention time.Duration
	// Exclusive says that no other process uses the database, so that what a
	// killed predecessor held is taken up at once.
	Exclusive bool
	// Observer counts what an operator watches. nil: nothing is counted.
	Observer *Observer
	// Admit refuses what goes over a quota of an account, with an [*Error]; q is
	// the transaction that would store it, or the database. nil: nothing is
	// refused.
	Admit func(ctx context.Context, q sqlx.ExtContext, account string, what Wanted, n int64) error
	// Trace begins a span below parent, the W3C traceparent of what it follows
	// from, or "". Its name is "messaging.receive" (what a network reported is
	// stored), "messaging.fetch" (a file is fetched), "messaging.queue" (a message
	// is stored to be sent) or "messaging.send" (an attempt). It returns the
	// context to work in, the span's own traceparent, and what ends the span, with
	// ids, kinds and counts. nil: nothing is traced.
	Trace  func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	Received func(kind provider.Kind, what string, n int) // "message", "status", "raw:image", "dead", "unrouted"
	Sent     func(kind provider.Kind, outcome string)     // "sent", "failed", "retried", "unconfirmed"
}

func (o *Observer) received(k provider.Kind, what string, n int) {
	if o != nil && o.Received != nil && n > 0 {
		o.Received(k, what, n)
	}
}

func (o *Observer) sent(k provider.Kind, outcome string) {
	if o != nil && o.Sent != nil {
		o.Sent(k, outcome)
	}
}

// Service is the message store and its workers. It is safe for concurrent use.
type Service struct {
	db    *database.DB
	store *store.Store
	opts  Options
	keys  *keyring.Ring // nil: there are no secrets
	kinds map[provider.Kind]provider.Provider

	sends       *queue.Queue
	files       *queue.Queue // to be fetched
	used        *usagecounter.Counter
	guard       *guard.Guard
	web         *http.Client // reaches nothing private
	inbox       groupcommit.Group[[]inboundEvent]
	sessions    sessionCache
	leases      *leases // the references that are connections
	claims      claimCache
	references  referenceCache
	health      healthBuffer
	recipients  *recipient.Resolver
	templates   *template.Copies
	nameLookups nameLookups

	waitMu sync.Mutex
	waits  map[int64][]chan struct{} // by message: told when an attempt is over

	receipts sync.Map // by message: a [provider.Receipt] that is not recorded yet
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
	return database.Migrate(ctx, db, "messaging", migrations)
}

// New returns a Service over db, and creates or upgrades its tables. It fails when
// the database holds credentials that none of the secrets opens, and with
// [ErrOtherMedia] when other processes keep their files elsewhere.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	s := &Service{db: d, kinds: map[provider.Kind]provider.Provider{}, waits: map[int64][]chan struct{}{}}
	s.nameLookups.queue, s.nameLookups.asked = make(chan store.Person, maxNameQueue), map[store.ChatName]time.Time{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	for _, p := range s.opts.Providers {
		if _, twice := s.kinds[p.Kind()]; twice {
			return nil, fmt.Errorf("messaging: two providers of kind %s", p.Kind())
		}
		s.kinds[p.Kind()] = p
	}
	s.leases = newLeases(s)
	if s.guard, err = guard.New(s.opts.Allow); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	s.used = s.counter()
	s.store = &store.Store{
		DB: d, Now: s.now, KeepsFiles: s.opts.Media != nil, PublishEvents: s.publishEvents, PublishChats: s.publishChats,
		Committed: s.Committed,
		AdmitChats: func(ctx context.Context, tx *sqlx.Tx, account string, n int) error {
			return s.admit(ctx, tx, account, WantContact, n)
		},
	}
	s.recipients = recipient.New(s.store)
	s.templates = template.NewCopies(s.store, s.opts.Logger, s.kinds, func(ctx context.Context, row *store.Reference) (provider.Session, error) {
		return s.sessions.get(ctx, s, row)
	})
	s.web = s.guard.Client()
	s.web.CheckRedirect = checkRedirect
	if err := Migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	if err := s.checkSecrets(ctx); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	// SQLite has one writer. To PostgreSQL few large transactions are less work
	// than many small ones, but while one waits for the disk another can go on.
	batches := 1
	if d.Dialect == database.Postgres {
		batches = 2
	}
	s.inbox.Gate, s.inbox.Run = make(chan struct{}, batches), s.receiveBatch
	if s.opts.Media != nil && !s.opts.Exclusive {
		if err := s.checkLibrary(ctx); err != nil {
			return nil, fmt.Errorf("messaging: %w", err)
		}
	}
	if err := s.openQueues(ctx, db); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	s.store.Sends, s.store.Files = s.sends, s.files
	return s, nil
}

// openQueues makes the queues of what follows from a commit.
func (s *Service) openQueues(ctx context.Context, db *sqlx.DB) (err error) {
	s.sends, err = queue.New(ctx, db, queue.Options{
		Name: "send", Handle: s.handleSend, Complete: s.settleSends, OnComplete: s.settledSends,
		Run: 1, Serves: s.serves, Exclusive: s.opts.Exclusive, Logger: s.opts.Logger,
	})
	if err != nil {
		return err
	}
	s.files, err = queue.New(ctx, db, queue.Options{
		Name: "media", Handle: s.attemptFile, Complete: s.settleFiles, OnComplete: s.settledFiles,
		Run: 1, Cap: maxConcurrentFetches, Serves: s.serves, Exclusive: s.opts.Exclusive, Logger: s.opts.Logger,
	})
	return err
}

// Run sends, retries and expires until ctx ends and the work in hand is
// finished or handed back.
func (s *Service) Run(ctx context.Context) error {
	defer s.sessions.closeAll(s.opts.Logger)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.sends.Run(gctx) })
	if s.opts.Media != nil {
		g.Go(func() error { return s.files.Run(gctx) })
	}
	g.Go(func() error { return s.leases.run(gctx) })
	g.Go(func() error { return s.maintain(gctx) })
	g.Go(func() error { return s.watchReferences(gctx) })
	g.Go(func() error { return s.templates.Run(gctx) })
	g.Go(func() error { return s.runNameLookups(gctx) })
	g.Go(func() error { return s.used.Run(gctx) })
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("messaging: %w", err)
	}
	return nil
}

// QueueStats says how much is not sent yet, and how long the oldest that could
// be tried has waited.
func (s *Service) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := s.sends.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("messaging: %w", err)
	}
	return st.Unrouted + st.Ready + st.Held + st.Waiting, st.Oldest, nil
}

// Fenced counts, since this process began, sends whose lease had ended when
// they were done: their outcome was not recorded.
func (s *Service) Fenced() int64 { return s.sends.Fenced() }

// Committed tells the workers to look for work now. Call it after the commit
// of a transaction that was given to a method ending in Tx.
func (s *Service) Committed() {
	s.sends.Notify()
	s.notifySubscribers()
}

// notifySubscribers wakes the subscribers of the stream, the sinks, and the senders of
// what sinks have sent.
func (s *Service) notifySubscribers() {
	if s.store.Queued.Swap(false) {
		s.sends.Notify()
	}
	s.db.Wake(store.StreamTopic)
	for _, k := range s.opts.Sinks {
		k.Committed()
	}
}

// Account is the share of a [Service] that belongs to one account. What
// belongs to another is not found.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }

func (s *Service) now() time.Time { return s.opts.Now() }
