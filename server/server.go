package server

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

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
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/api/chats"
	"github.com/trunklinehq/trunkline/server/internal/api/contacts"
	"github.com/trunklinehq/trunkline/server/internal/api/credentials"
	"github.com/trunklinehq/trunkline/server/internal/api/explain"
	"github.com/trunklinehq/trunkline/server/internal/api/extractors"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
	"github.com/trunklinehq/trunkline/server/internal/api/functions"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/api/models"
	"github.com/trunklinehq/trunkline/server/internal/api/modelusage"
	"github.com/trunklinehq/trunkline/server/internal/api/projectfiles"
	"github.com/trunklinehq/trunkline/server/internal/api/references"
	"github.com/trunklinehq/trunkline/server/internal/api/remotes"
	"github.com/trunklinehq/trunkline/server/internal/api/sandboxes"
	"github.com/trunklinehq/trunkline/server/internal/api/stream"
	"github.com/trunklinehq/trunkline/server/internal/api/uploads"
	"github.com/trunklinehq/trunkline/server/internal/api/users"
	"github.com/trunklinehq/trunkline/server/internal/api/webhooks"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/forged"
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
	audit     *auditlog.Store
	media     *media.Library // nil: files are not kept
	models    *llm.Models
	db        *database.DB
	log       *slog.Logger
	router    *mux.Router
	handler   http.Handler
	api       *httpapi.API
	http      *httpMetrics
	tracing   *middleware.Tracing
	limits    middleware.TokenLimits
	forged    forged.Limiter // callbacks without a valid signature
	origins   *http.CrossOriginProtection
	probe     probe
	proxies   proxyNotes
	keys      *keyring.Ring
	oidc      *oidc.Provider // nil: there is none
	providers []provider.Provider
	echo      *webhook.Echo
	started   time.Time
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
	s := &Server{
		cfg: cfg, log: cfg.Logger, Metrics: prometheus.NewRegistry(),
		origins: newOrigins(cfg.BaseURL), started: cfg.Now(), stopping: make(chan struct{}),
	}
	if s.db, err = database.Of(ctx, cfg.DB); err != nil {
		return nil, fmt.Errorf("server: %w", err)
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
	if s.models, err = cfg.openModels(); err != nil {
		return nil, err
	}
	if err := s.openAudit(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	authOptions := auth.Options{
		Secrets: cfg.secrets(), Closed: cfg.ClosedSignUp, Logger: cfg.Logger, Now: cfg.Now, Cost: cfg.passwords,
		HasReferences: func(ctx context.Context, account string, ids []int64) (bool, error) {
			return s.Messaging.For(account).References().Exist(ctx, ids)
		},
	}
	if authOptions.Site, err = passkey.SiteOf(cfg.BaseURL); err != nil {
		cfg.Logger.InfoContext(ctx, "there are no passkeys", slog.Any("error", err))
	}
	mails, err := cfg.mailer()
	if err != nil {
		return nil, err
	}
	if mails != nil {
		authOptions.SendReset, authOptions.SendInvitation, authOptions.SendSignUp = mails.resetMail, mails.invitationMail, mails.signUpMail
	}
	s.Auth, err = auth.New(ctx, cfg.DB, &authOptions)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.http, s.tracing = newHTTPMetrics(s.Metrics, cfg.Version), middleware.NewTracing(cfg.Tracer, cfg.Version)
	if err := errors.Join(s.openQuotas(ctx), s.connect(ctx), s.openBilling(ctx), s.openJobs(ctx)); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openUsage(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openExtractors(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := errors.Join(s.openCredentials(ctx), s.openRemote(ctx)); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openAssistant(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openAgents(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openFlows(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.prepareAudience(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openMCP(ctx); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.openOIDC()
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
	runs := []func(context.Context) error{s.Auth.Run, s.Messaging.Run, s.recorded(s.Webhooks.Run), s.Runs.Run, s.Flows.Run, s.Bots.Run, s.Extractors.Run, s.Remote.Run, s.Memory.Run, s.Knowledge.Run, s.MCP.Run, s.Usage.Run, s.Billing.Run, s.Jobs.Run, s.eraseAccounts, s.scrub}
	runs = append(runs, s.audit.Run)
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

// routes connects every route to its handler.
func (s *Server) routes() error {
	s.router = mux.NewRouter().UseEncodedPath() // an id in a path may hold a slash
	s.api = httpapi.NewAPI(httpapi.Options{
		Router: s.router, Version: s.cfg.Version, BaseURL: s.cfg.BaseURL, Cookie: s.cookies().Name(),
		Schemas: standIns, Guard: s.guard, Problem: s.problemOf, Inside: s.inside, Deleted: s.db.Erased,
	})
	(&users.API{Auth: s.Auth, Cookies: s.cookies(), InvitationLink: func(token string) string { return InvitationLink(s.cfg.BaseURL, token) }}).Register(s.api)
	(&users.Factors{Auth: s.Auth, Cookies: s.cookies()}).Register(s.api)
	s.accountRoutes(s.api)
	(&jobs.API{Jobs: s.Jobs}).Register(s.api)
	s.probeRoutes(s.api)
	(&references.API{Jobs: s.Jobs, Messaging: s.Messaging, Runs: s.Runs}).Register(s.api)
	(&chats.API{Messaging: s.Messaging}).Register(s.api)
	(&contacts.API{Audit: s.audit, Jobs: s.Jobs, Log: s.log, Messaging: s.Messaging, Now: s.cfg.Now, Webhooks: s.Webhooks}).Register(s.api)
	(&explain.API{Messaging: s.Messaging, Runs: s.Runs, Webhooks: s.Webhooks}).Register(s.api)
	(&flows.Projects{Audit: s.audit, Flows: s.Flows}).Register(s.api)
	(&models.API{Models: s.models, Runs: s.Runs}).Register(s.api)
	(&flows.Bots{Bots: s.Bots, Messaging: s.Messaging}).Register(s.api)
	(&flows.Flows{FirstModel: s.firstModel, Flows: s.Flows, Messaging: s.Messaging, Models: s.models, Runs: s.Runs, Usage: s.Usage}).Register(s.api)
	(&flows.Runs{Agents: s.Agents, Begin: s.beginRun, Bots: s.Bots, Flows: s.Flows, Messaging: s.Messaging, Usage: s.Usage}).Register(s.api)
	(&flows.Simulations{
		Bots: s.Bots, Flows: s.Flows, Message: s.flowMessage, Messaging: s.Messaging, Now: s.cfg.Now, Runs: s.Runs, Snapshot: s.snapshot,
	}).Register(s.api)
	(&credentials.API{Credentials: s.Credentials}).Register(s.api)
	(&remotes.API{Credentials: s.Credentials, DB: s.db, Remote: s.Remote}).Register(s.api)
	(&extractors.API{Bots: s.Bots, Extractors: s.Extractors, Flows: s.Flows, Messaging: s.Messaging}).Register(s.api)
	(&projectfiles.API{Knowledge: s.Knowledge, Flows: s.Flows}).Register(s.api)
	(&stream.API{Authenticate: s.callerOf, Log: s.log, Messaging: s.Messaging, Stopping: s.stopping}).Register(s.api)
	(&webhooks.API{Messaging: s.Messaging, Now: s.cfg.Now, Webhooks: s.Webhooks}).Register(s.api)
	(&sandboxes.API{Echo: s.echo, Messaging: s.Messaging}).Register(s.api)
	(&uploads.API{Messaging: s.Messaging}).Register(s.api)
	(&functions.API{MCP: func() *mcp.Registry { return s.MCP }, Caller: functionCaller}).Register(s.api)
	s.accountAuditRoutes(s.api)
	(&modelusage.API{Usage: s.Usage, Flows: s.Flows, Messaging: s.Messaging}).Register(s.api)
	signIn := &users.SignIn{
		Auth: s.Auth, BaseURL: s.cfg.BaseURL, Closed: s.cfg.ClosedSignUp, Cookies: s.cookies(), Keys: s.keys, Log: s.log, Name: s.cfg.OIDC.Name,
		Problem: s.problemOf, Provider: s.oidc, Recording: s.recording,
	}
	signIn.Register(s.api)
	signIn.Mount(s.router)
	s.callbackRoutes(s.router)
	s.paymentRoutes(s.router)
	s.fileRoutes(s.router)
	s.api.Finish()
	describe(s.api.OpenAPI())
	uploads.Describe(s.api.OpenAPI())
	functions.DescribeOutcomes(s.api.OpenAPI())
	describeAudit(s.api.OpenAPI())
	users.DescribeSignUp(s.api.OpenAPI())
	if err := functions.MountProtocol(s.router, s.MCP, protocol.Options{
		BaseURL: s.cfg.BaseURL, Authenticate: s.agentOf, Context: s.recordingAgent, Version: s.cfg.Version, Logger: s.log,
	}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.pageRoutes(s.router)
	s.handler = s.middleware(s.router)
	return nil
}

// drain tells long requests and the probe that the server is about to stop.
func (s *Server) drain() { s.stopOnce.Do(func() { close(s.stopping) }) }
