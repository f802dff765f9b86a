package messaging

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/callback"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/contact"
	"github.com/trunklinehq/trunkline/messaging/internal/contactcount"
	"github.com/trunklinehq/trunkline/messaging/internal/handler"
	"github.com/trunklinehq/trunkline/messaging/internal/inbox"
	"github.com/trunklinehq/trunkline/messaging/internal/maintenance"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/privacy"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/internal/wait"
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
	// seals again what a later one sealed, so that it can go. Other packages may
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
	// OnMessage is called for each new message of a contact, at least once, while
	// [Service.Run] runs on some process. The call is queued in the transaction that
	// stores the message. The messages of a chat are handled one after the other,
	// those of different chats at the same time. After an error or a panic it is
	// called again, 15 times within about half an hour; the later messages of the
	// chat wait. Then, or at once after an error that a repeat cannot change (an
	// [*Invalid], [ErrNotFound], [CodeUnsupported], [CodeWindowClosed]), the message
	// has failed: that is logged, counted by the Observer, and a [StepHandled] of
	// [Account.Explain]. When ctx ends, the program stops, and the message is
	// handled again later. Reactions, edits and deletions are for [Sink]s only.
	// Every process on the database needs it, or messages that others receive are
	// not queued. nil: nothing is queued, and what is queued waits.
	OnMessage func(ctx context.Context, m Message, reply *Replier) error
	// Erasers erase what they keep of a contact who is erased, in this order and
	// before anything is erased here.
	Erasers []Eraser
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
	Admit func(ctx context.Context, q Tx, account string, what Wanted, n int64) error
	// Trace begins a span below parent, the W3C traceparent of what it follows
	// from, or "". Its name is "messaging.receive" (what a network reported is
	// stored), "messaging.fetch" (a file is fetched), "messaging.queue" (a message
	// is stored to be sent), "messaging.send" (an attempt) or "messaging.handle"
	// (OnMessage is called). It returns the
	// context to work in, the span's own traceparent, and what ends the span, with
	// ids, kinds and counts. nil: nothing is traced.
	Trace  func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// check returns an error for a nil where there must be a value.
func (o *Options) check() error {
	for i, p := range o.Providers {
		if p == nil {
			return fmt.Errorf("messaging: Options.Providers[%d] is nil", i)
		}
	}
	for i, k := range o.Sinks {
		if k == nil {
			return fmt.Errorf("messaging: Options.Sinks[%d] is nil", i)
		}
	}
	for i, e := range o.Erasers {
		if e == nil {
			return fmt.Errorf("messaging: Options.Erasers[%d] is nil", i)
		}
	}
	return nil
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	Received func(kind provider.Kind, what string, n int) // "message", "status", "raw:image", "dead", "unrouted"
	Sent     func(kind provider.Kind, outcome string)     // "sent", "failed", "retried", "unconfirmed"
	Handled  func(kind provider.Kind, outcome string)     // by Options.OnMessage: "done", "failed", "retried"
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

func (o *Observer) handled(k provider.Kind, outcome string) {
	if o != nil && o.Handled != nil {
		o.Handled(k, outcome)
	}
}

// Service is the message store and its workers. It is safe for concurrent use.
type Service struct {
	db    *database.DB
	store *store.Store
	opts  Options

	sends         *queue.Queue
	files         *queue.Queue         // to be fetched
	inbound       *queue.Queue         // for Options.OnMessage
	textIndex     atomic.Pointer[bool] // see hasTextIndex
	used          *usagecounter.Counter
	contactCounts *contactcount.Counter
	attachments   *attachment.Files
	privacy       *privacy.Records
	sender        *outbox.Sender
	handler       *handler.Caller
	writer        *outbox.Writer
	settings      *settings.Box
	inbox         *inbox.Inbox
	connections   *connection.Manager
	callbacks     *callback.Router
	liveness      session.Liveness
	maintenance   *maintenance.Tasks
	recipients    *recipient.Resolver
	waits         *wait.Waiters
	templates     *template.Copies
	names         *contact.Names
	numbers       *contact.Numbers
	chatsByID     *groupcommit.Reads[int64, accountChat]
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
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	if err := s.opts.check(); err != nil {
		return nil, err
	}
	d, err := database.Prepare(ctx, db, "messaging", Migrate)
	if err != nil {
		return nil, err
	}
	s.db, s.waits = d, wait.New(d)
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = clockstep.Now(ctx, d)
	}
	kinds := map[provider.Kind]provider.Provider{}
	for _, p := range s.opts.Providers {
		if _, twice := kinds[p.Kind()]; twice {
			return nil, fmt.Errorf("messaging: two providers of kind %s", p.Kind())
		}
		kinds[p.Kind()] = p
	}
	guarded, err := guard.New(s.opts.Allow)
	if err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	clockstep.Register(d, "messaging", clockstep.All(
		clockstep.Column("messaging_deferred", "until_us", ""),
		clockstep.Column("messaging_outbound", "give_up_us", ""),
		clockstep.Column("messaging_template_copy", "due_us", ""),
		clockstep.Column("messaging_idempotency", "until_us", ""),
		connection.MoveLeases,
	))
	s.wire(d, kinds, guarded)
	if s.opts.Secrets != nil {
		if s.settings.Keys, err = keyring.New("messaging", s.opts.Secrets); err != nil {
			return nil, fmt.Errorf("messaging: Options.Secrets: %w", err)
		}
		s.opts.Secrets = nil // so that they are not printed by mistake
	}
	if err := s.settings.Reseal(ctx); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	if s.opts.Media != nil && !s.opts.Exclusive {
		if err := s.attachments.CheckLibrary(ctx); err != nil {
			return nil, fmt.Errorf("messaging: %w", err)
		}
	}
	if err := s.openQueues(ctx, db); err != nil {
		return nil, fmt.Errorf("messaging: %w", err)
	}
	s.store.Sends, s.store.Files, s.store.Inbound = s.sends, s.files, s.inbound
	return s, nil
}

// wire makes the parts of the service, but for its queues. Each gets what it
// needs of the others.
func (s *Service) wire(d *database.DB, kinds map[provider.Kind]provider.Provider, guarded *guard.Guard) {
	s.used = newCounter(d, &s.opts)
	s.contactCounts = &contactcount.Counter{DB: d, Logger: s.opts.Logger, Now: time.Now}
	s.store = &store.Store{
		DB: d, Kinds: kinds, Now: s.now, KeepsFiles: s.opts.Media != nil, Handles: s.opts.OnMessage != nil, PublishEvents: s.publishEvents, PublishChats: s.publishChats,
		ChatView: func(u *store.Batch, c *store.Chat) any { return chatView(u, c) },
		AdmitChats: func(ctx context.Context, tx *database.Tx, account string, n int) error {
			return s.admit(ctx, tx, account, WantContact, n)
		},
	}
	s.chatsByID = groupcommit.NewReads(s.readChats)
	s.recipients = recipient.New(s.store)
	s.settings = &settings.Box{Store: s.store, Logger: s.opts.Logger, Changed: s.referencesChanged}
	s.inbox = inbox.New(&inbox.Inbox{
		Store: s.store, Trace: s.opts.Trace, Received: s.liveness.Inbound,
		Unnamed: func(people []store.Person) { s.names.Enqueue(people) }, Count: s.opts.Observer.received, Reply: s.replyToCall,
	})
	s.connections = connection.New(&connection.Manager{
		Store: s.store, Settings: s.settings, Logger: s.opts.Logger, Exclusive: s.opts.Exclusive, Inbox: s.inbox,
	})
	s.names = contact.NewNames(s.store, s.opts.Logger, s.connections.Get)
	s.numbers = &contact.Numbers{Store: s.store, Connections: s.connections}
	s.templates = template.NewCopies(s.store, s.opts.Logger, kinds, s.connections.Get)
	s.attachments = attachment.New(attachment.Files{
		Store: s.store, Library: s.opts.Media, Guard: guarded, Waits: s.waits, Logger: s.opts.Logger, Trace: s.opts.Trace, Session: s.connections.Get,
	})
	if s.opts.Media != nil {
		s.opts.Media.Verify(s.attachments.Digest)
	}
	s.sender = outbox.NewSender(&outbox.Sender{
		Store: s.store, Settings: s.settings, Connections: s.connections, Files: s.attachments, Waits: s.waits, Liveness: &s.liveness,
		Logger: s.opts.Logger, Trace: s.opts.Trace, Sent: s.opts.Observer.sent,
		SetState: func(ctx context.Context, id provider.ReferenceID, change func(*store.Reference)) error {
			_, err := s.setState(ctx, id, "", change)
			return err
		},
	})
	s.writer = &outbox.Writer{
		Store: s.store, Recipients: s.recipients, Files: s.attachments, Templates: s.templates, Sender: s.sender, Waits: s.waits,
		Trace: s.opts.Trace,
		Admit: func(ctx context.Context, tx *database.Tx, account string) error {
			return s.admit(ctx, tx, account, WantMessage, 1)
		},
	}
	s.handler = &handler.Caller{
		Store: s.store, Logger: s.opts.Logger, Trace: s.opts.Trace, Call: s.handle, Handled: s.opts.Observer.handled,
	}
	s.callbacks = &callback.Router{
		Store: s.store, Settings: s.settings, Providers: s.opts.Providers, Logger: s.opts.Logger, Ingest: s.inbox.Add,
		IngestReplay: s.inbox.Replay,
		Check: func(ctx context.Context, row *store.Reference) (*store.Reference, error) {
			return s.check(ctx, row, "")
		},
		MarkConnected: s.markConnected, Changed: s.referencesChanged,
		Unrouted: func(kind provider.Kind, n int) { s.opts.Observer.received(kind, "unrouted", n) },
	}
	s.privacy = &privacy.Records{
		Store: s.store, Files: s.attachments, EraseElsewhere: s.eraseElsewhere, Changed: s.referencesChanged, Dropped: s.referenceDropped,
	}
	s.maintenance = &maintenance.Tasks{
		Store: s.store, Files: s.attachments, Liveness: &s.liveness, Logger: s.opts.Logger, Retention: s.opts.Retention,
		MarkConnected: s.markConnected,
	}
}

// openQueues makes the queues of what follows from a commit.
func (s *Service) openQueues(ctx context.Context, db *sqlx.DB) (err error) {
	s.sends, err = queue.New(ctx, db, queue.Options{
		Name: "send", Handle: s.sender.Handle, Complete: s.sender.Complete, OnComplete: s.sender.Completed,
		Run: 1, Serves: s.connections.Serves, Exclusive: s.opts.Exclusive, Logger: s.opts.Logger,
	})
	if err != nil {
		return err
	}
	s.files, err = queue.New(ctx, db, queue.Options{
		Name: "media", Handle: s.attachments.Handle, Complete: s.attachments.Complete, OnComplete: s.attachments.Completed,
		Run: 1, Cap: attachment.MaxConcurrent, Serves: s.connections.Serves, Exclusive: s.opts.Exclusive, Logger: s.opts.Logger,
	})
	if err != nil {
		return err
	}
	s.inbound, err = queue.New(ctx, db, queue.Options{
		Name: "inbound", Handle: s.handler.Handle, Complete: s.handler.Complete, OnComplete: s.handler.Completed,
		Run: 1, Exclusive: s.opts.Exclusive, Logger: s.opts.Logger,
	})
	return err
}

// Run sends, retries and expires until ctx ends and the work in hand is
// finished or handed back.
func (s *Service) Run(ctx context.Context) error {
	defer s.connections.Close()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.sends.Run(gctx) })
	if s.opts.Media != nil {
		g.Go(func() error { return s.files.Run(gctx) })
	}
	if s.opts.OnMessage != nil {
		g.Go(func() error { return s.inbound.Run(gctx) })
	}
	g.Go(func() error { return s.connections.Run(gctx) })
	g.Go(func() error { return s.maintenance.Run(gctx) })
	g.Go(func() error { return s.watchReferences(gctx) })
	g.Go(func() error { return s.templates.Run(gctx) })
	g.Go(func() error { return s.names.Run(gctx) })
	g.Go(func() error { return s.used.Run(gctx) })
	g.Go(func() error { return s.contactCounts.Run(gctx) })
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("messaging: %w", err)
	}
	return nil
}

// Receive stores what a network reported, with everything that follows from
// it. It returns nil only once all of it is durable. Events that are known
// already change nothing. It implements [provider.Inbox].
func (s *Service) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	return s.inbox.Receive(ctx, ref, events)
}

// QueueStats says how much is not sent yet, and how long the oldest that could
// be tried has waited.
func (s *Service) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := s.sends.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("messaging: %w", err)
	}
	return st.Ready + st.Leased + st.Waiting, st.Oldest, nil
}

// Fenced counts, since this process began, sends whose lease had ended when
// they were done: their outcome was not recorded.
func (s *Service) Fenced() int64 { return s.sends.Fenced() }

// Account is the share of a [Service] that belongs to one account. What
// belongs to another is not found.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }

func (s *Service) now() time.Time { return s.opts.Now() }
