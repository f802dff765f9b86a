package server

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/server/quota"
	"github.com/trunklinehq/trunkline/webhook"
)

// ErrOtherSecret reports a database that was written under a secret that is
// not in Config.Secrets.
var ErrOtherSecret = keyring.ErrOtherSecret

// ErrOtherMedia reports a Config.Media that is not the one of the other nodes
// on the database.
var ErrOtherMedia = messaging.ErrOtherMedia

// Server is the assembled service. It is an http.Handler; its services do the
// same as its routes.
type Server struct {
	// Auth keeps accounts, users and tokens.
	Auth *auth.Service
	// Messaging keeps references, chats and messages, and sends.
	Messaging *messaging.Service
	// Webhooks keeps endpoints and delivers events to them.
	Webhooks *webhook.Dispatcher
	// Runs takes the turns of what the engines of bots and flows own.
	Runs *runtime.Runtime
	// Bots keeps the bots of the flow editor.
	Bots *botengine.Service
	// Flows keeps projects and their flows.
	Flows *aiflow.Service
	// Extractors keeps what finds values in messages.
	Extractors *store.Service
	// Assistant answers the assistant nodes of flows.
	Assistant *assistant.Service
	// Memory keeps what contacts and models said to each other.
	Memory *memory.Service
	// Knowledge keeps the files of projects.
	Knowledge *knowledge.Service
	// Agents answers the agent nodes of flows.
	Agents *agent.Service
	// Usage is the ledger of calls of language models, with prices and budgets.
	Usage *usage.Ledger
	// Credentials keeps the secrets that flows and their tools send to others.
	Credentials *credential.Service
	// Remote calls the tools of foreign MCP servers.
	Remote *remote.Service
	// MCP holds the functions that agents call, and executes calls.
	MCP *mcp.Registry
	// Jobs do what continues behind answers.
	Jobs *job.Service
	// Quotas bounds what accounts have and do.
	Quotas *quota.Service
	// Billing keeps the subscriptions of accounts, as payment notifications
	// say.
	Billing *billing.Service
	// Metrics is where this server counts. It is not the global registry: a
	// program may have its own.
	Metrics *prometheus.Registry

	cfg       Config
	adapters  adapters
	audit     *auditlog.Store
	media     *media.Library // nil: files are not kept
	models    *llm.Models
	db        *database.DB
	log       *slog.Logger
	router    *mux.Router
	handler   http.Handler
	api       *httpapi.API
	tracing   *middleware.Tracing
	problems  *httpapi.Problems
	probe     probe
	keys      *keyring.Ring
	oidc      *oidc.Provider // nil: there is none
	providers []provider.Provider
	echo      *webhook.Echo
	stopping  chan struct{} // closed when draining begins
	stopOnce  sync.Once
}

//go:embed migrations/*.sql
var migrations embed.FS

// New creates or upgrades the tables and connects the services. Nothing runs
// before [Server.Run]; requests are answered at once. It returns
// [ErrOtherSecret] when the database belongs to another secret.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: cfg.Logger, Metrics: prometheus.NewRegistry(), stopping: make(chan struct{})}
	if s.db, err = database.Of(ctx, cfg.DB); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if cfg.ownClock == nil {
		cfg.Now = clockstep.Now(ctx, s.db)
		s.cfg.Now = cfg.Now
	}
	keys, err := keyring.New("server", cfg.secrets())
	if err != nil {
		return nil, fmt.Errorf("server: Config.Secrets: %w", err)
	}
	s.keys = keys
	if err := Migrate(ctx, cfg.DB); err != nil {
		return nil, err
	}
	if err := keys.Check(ctx, cfg.DB); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.probe = probe{
		db: s.db, files: &openFiles{log: s.log, now: cfg.local}, log: s.log, now: cfg.local, started: cfg.local(), stopping: s.stopping, version: cfg.Version,
	}
	s.tracing = middleware.NewTracing(cfg.Tracer, cfg.Version)
	s.problems = &httpapi.Problems{Known: translations, Log: s.log, Refused: func() { s.probe.refusals.Add(1) }}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.probe.media = s.media
	s.Metrics.MustRegister(probeMetric{&s.probe})
	if err := s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

// Migrate creates or upgrades the tables of every package that the server
// always has. [New] does it, too. Providers of Config.Providers have tables of
// their own, which their New creates.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	for _, migrate := range []func(context.Context, *sqlx.DB) error{
		keyring.Migrate, migrateOwn, auth.Migrate, messaging.Migrate, webhook.Migrate, runtime.Migrate, botengine.Migrate, aiflow.Migrate, agent.Migrate, credential.Migrate, remote.Migrate, store.Migrate, memory.Migrate, knowledge.Migrate, mcp.Migrate, usage.Migrate, billing.Migrate, quota.Migrate, job.Migrate, auditlog.Migrate,
	} {
		if err := migrate(ctx, db); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	return nil
}

func migrateOwn(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "server", migrations)
}

// Run runs the workers until ctx ends and the work in hand is finished or
// handed back.
func (s *Server) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	runs := []func(context.Context) error{
		s.Auth.Run, s.Messaging.Run, s.recording().Worker(s.Webhooks.Run), s.Runs.Run, s.Flows.Run, s.Bots.Run, s.Extractors.Run,
		s.Remote.Run, s.Memory.Run, s.Knowledge.Run, s.MCP.Run, s.Usage.Run, s.Billing.Run, s.Jobs.Run, s.audit.Run, s.adapters.accounts.Run,
		// Deleted rows leave the log of the database, too.
		func(ctx context.Context) error { return s.db.RunScrub(ctx, s.log) },
	}
	if s.media != nil {
		runs = append(runs, s.media.Run)
	}
	for _, run := range runs {
		g.Go(func() error { return run(gctx) })
	}
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// drain tells long requests and the probe that the server is about to stop.
func (s *Server) drain() { s.stopOnce.Do(func() { close(s.stopping) }) }

// PublishSubscriptionTx tells an account's webhooks, in the caller's
// transaction, what its subscription is now: once to each distinct URL that
// asks for such events, in the name of the oldest reference that has it. What
// [Server.Billing] learns is published by itself. A program that bills by other means calls this where it writes the
// subscription, while it holds the row, so that events are in the order of the
// changes.
func (s *Server) PublishSubscriptionTx(ctx context.Context, tx Tx, sub Subscription) error {
	return s.adapters.subscriptions.PublishTx(ctx, tx, sub)
}

// Tx is a transaction of the caller on the database of the server, as
// [messaging.Tx].
type Tx = messaging.Tx

// Subscription is the state of an account with the service that bills it.
type Subscription = billing.Subscription
