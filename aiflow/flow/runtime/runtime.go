package runtime

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/usagecounter"
)

// Options configures a [Runtime].
type Options struct {
	// Types are the node types of the documents. nil: the built-in ones.
	Types *flow.Types
	// Callers answer calls to the world by their kind. Calls of the kind
	// [flow.CallHTTP] and [flow.CallNode] need none. A call of a kind without an answer
	// ends with the code effect.unsupported.
	Callers map[flow.CallKind]Caller
	// Authorize adds a credential of an account to a request of an HTTP node, or
	// of a function of [flow.NodeFunc].
	// It may change the request's headers and its URL's query. nil: requests
	// that name a credential end with the code http.credential.
	Authorize func(ctx context.Context, account, credential string, r *http.Request) error
	// Repeatable says of a call that must not be made twice, but whose tool
	// decides ([flow.ToolRequest].Auto), that the tool may be called again all
	// the same. nil: none may.
	Repeatable func(ctx context.Context, c Request) bool
	// Extractor finds entities and intents for the nodes of an account. nil:
	// these end with the code extract.unavailable.
	Extractor func(account string) flow.Extractor
	// Allow names networks and hosts that HTTP nodes may reach although they
	// are private or loopback. nil: none.
	Allow []string
	// Admit refuses a run that a program would begin, before it is stored; not one
	// that a message or another run begins. nil: none is refused.
	Admit func(ctx context.Context, tx Tx, account string) error
	// Retention is how long runs that have ended are kept; 0: for ever.
	Retention time.Duration
	// Lease is how long a process that is frozen, or cut off from the
	// database, keeps the chats and calls that it has in hand. 0: 60 s.
	Lease time.Duration
	// Exclusive says that no other process uses the database, so that what a
	// killed predecessor held is taken up at once.
	Exclusive bool
	// Observer counts what an operator watches. nil: nothing is counted.
	Observer *Observer
	// Trace begins a span below parent, the W3C traceparent of what it follows
	// from, or "". Its name is "flow.turn" (an input is worked on), "flow.prepare"
	// (the host looks at a message before) or "flow.call" (a call to the world). It
	// returns the context to work in, the span's own traceparent, and what ends the
	// span, with ids, kinds and counts. nil: nothing is traced.
	Trace  func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now

	// AfterCommit is called after each commit, before anything follows from
	// it, with what was committed ("turn", "call", "answer", "timers",
	// "merge"). Tests
	// stop a node there. nil: nothing is called.
	AfterCommit func(what string)
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	// Turned is told of each turn: by what it began, and how long it took from
	// the reading of the state to the commit.
	Turned func(engine, input string, duration time.Duration)
	// Ended is told of each run that is over ("completed", "failed",
	// "cancelled"), and after how long.
	Ended func(engine, status string, after time.Duration)
	// Called is told of each call to the world: "done", or the code of its
	// error.
	Called func(kind, outcome string, duration time.Duration)
	// Dropped counts inputs that no run waited for ("message", "timer" …), and
	// messages to a chat in which bots keep silent ("silent").
	Dropped func(what string)
}

func (o *Observer) turned(engine, input string, duration time.Duration) {
	if o != nil && o.Turned != nil {
		o.Turned(engine, input, duration)
	}
}

func (o *Observer) ended(engine, status string, after time.Duration) {
	if o != nil && o.Ended != nil {
		o.Ended(engine, status, after)
	}
}

func (o *Observer) called(kind, outcome string, duration time.Duration) {
	if o != nil && o.Called != nil {
		o.Called(kind, outcome, duration)
	}
}

func (o *Observer) dropped(what string) {
	if o != nil && o.Dropped != nil {
		o.Dropped(what)
	}
}

// Runtime keeps runs and takes their turns. It is safe for concurrent use, and
// any number of processes may run one on the same PostgreSQL.
type Runtime struct {
	db       *database.DB
	chats    ChatService
	opts     Options
	engines  engines
	turns    *queue.Queue // key: inbox
	calls    *queue.Queue // key: call
	web      *http.Client
	waits    waits
	programs programs

	inbox     *inbox
	runs      *runStore
	timers    *timers
	schedules *schedules
	eraser    eraser
	started   *usagecounter.Counter
}

const (
	// turnCap is how many chats of a reference are worked on at once by a node.
	turnCap = 256
	// callWorkers is how many calls are under way on a node that have begun a
	// moment ago; of those that take longer there may be four times as many.
	callWorkers = 256
	// callCap is how many calls of one subscriber are under way on a node.
	callCap = 64
)

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
	return database.Migrate(ctx, db, "flow", migrations)
}

// New returns a Runtime over db, and creates or upgrades its tables. host is the
// chat service of its runs; nil: they have no chats.
func New(ctx context.Context, db *sqlx.DB, host ChatService, opts *Options) (*Runtime, error) {
	if host == nil {
		host = noChats{}
	}
	r := &Runtime{chats: host}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.defaults(); err != nil {
		return nil, err
	}
	var err error
	if r.db, err = database.Prepare(ctx, db, "runtime", Migrate); err != nil {
		return nil, err
	}
	clockstep.Register(r.db, "flow", clockstep.Column("flow_timer", "at_us", "NOT fixed"))
	if r.opts.Now == nil {
		r.opts.Now = clockstep.Now(ctx, r.db)
	}
	allowed, err := guard.New(r.opts.Allow)
	if err != nil {
		return nil, fmt.Errorf("runtime: Options.Allow: %w", err)
	}
	r.web = allowed.Client()
	turns := &turnHandler{}
	if r.turns, err = queue.New(ctx, db, queue.Options{
		Name: "turn", Handle: turns.handleTurn, Cap: turnCap, Workers: turnCap,
		Lease: r.opts.Lease, Exclusive: r.opts.Exclusive, Logger: r.opts.Logger,
	}); err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	r.waits.db = r.db
	r.programs.db, r.programs.types, r.programs.now = r.db, r.opts.Types, r.opts.Now
	r.started = newCounter(r.db, &r.opts)
	r.inbox, r.eraser = newInbox(r.db, r.turns, r.opts.Now), eraser{r.db}
	r.runs = &runStore{r.db, r.inbox, &r.programs, &r.engines, &r.opts}
	r.timers = &timers{r.db, r.inbox, make(chan struct{}, 1), &r.opts}
	r.schedules = &schedules{r.db, r.runs, r.turns, &r.opts}
	calls := &callHandler{db: r.db, inbox: r.inbox, outbound: &outbound{r.web, allowed, &r.opts}, opts: &r.opts, now: r.opts.Now}
	if r.calls, err = queue.New(ctx, db, queue.Options{
		Name: "call", Handle: calls.handleCall, Complete: calls.completeCalls, OnComplete: calls.completedCalls,
		Run: 1, Cap: callCap, Workers: callWorkers, Lease: r.opts.Lease, Exclusive: r.opts.Exclusive, Logger: r.opts.Logger,
	}); err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	*turns = turnHandler{
		db: r.db, chats: r.chats, inbox: r.inbox, runs: r.runs, programs: &r.programs, timers: r.timers, waits: &r.waits, calls: r.calls, opts: &r.opts,
		router: newRouter(r.db, &r.engines, &r.programs, &r.opts),
	}
	turns.commits = &groupcommit.Group[*work]{Gate: make(chan struct{}, batchesAtOnce), Limit: maxBatch, Run: turns.commitAll}
	turns.drops = &groupcommit.Group[*inputRow]{Gate: make(chan struct{}, batchesAtOnce), Limit: maxBatch, Run: turns.dropAll}
	return r, nil
}

// Serve adds an engine. Call it before [Runtime.Run].
func (r *Runtime) Serve(e Engine) { r.engines = append(r.engines, e) }

func (r *Runtime) defaults() error {
	o := &r.opts
	if o.Types == nil {
		o.Types = node.NewTypes()
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.AfterCommit == nil {
		o.AfterCommit = func(string) {}
	}
	if o.Lease < 0 || o.Retention < 0 {
		return errors.New("runtime: a duration of Options is negative")
	}
	return nil
}

// Run takes turns, makes calls and watches timers until ctx ends and the work
// in hand is finished or handed back.
func (r *Runtime) Run(ctx context.Context) error {
	defer r.web.CloseIdleConnections()
	g, gctx := errgroup.WithContext(ctx)
	clockstep.Watch(gctx, r.db, r.opts.Logger)
	g.Go(func() error { return r.turns.Run(gctx) })
	g.Go(func() error { return r.calls.Run(gctx) })
	g.Go(func() error { return r.timers.watch(gctx) })
	g.Go(func() error { return r.schedules.watch(gctx) })
	g.Go(func() error { return r.prune(gctx) })
	g.Go(func() error { return r.started.Run(gctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("runtime: %w", err)
	}
	return nil
}

// Notify has the workers look for work now. Call it when the clock of
// [Options].Now has leapt.
func (r *Runtime) Notify() {
	r.turns.Notify()
	r.timers.notify()
}

// QueueStats says how many turns wait to be taken, and how long the oldest has
// waited that nothing holds back.
func (r *Runtime) QueueStats(ctx context.Context) (waiting int64, oldest time.Duration, err error) {
	st, err := r.turns.Stats(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("runtime: %w", err)
	}
	return st.Ready + st.Leased + st.Waiting, st.Oldest, nil
}

// Types are the node types of the documents.
func (r *Runtime) Types() *flow.Types { return r.opts.Types }
