package server

import (
	"fmt"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/api/accounts"
	"github.com/trunklinehq/trunkline/server/internal/api/callbacks"
	"github.com/trunklinehq/trunkline/server/internal/api/chats"
	"github.com/trunklinehq/trunkline/server/internal/api/cloudapi"
	"github.com/trunklinehq/trunkline/server/internal/api/contacts"
	"github.com/trunklinehq/trunkline/server/internal/api/credentials"
	"github.com/trunklinehq/trunkline/server/internal/api/explain"
	"github.com/trunklinehq/trunkline/server/internal/api/extractors"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
	"github.com/trunklinehq/trunkline/server/internal/api/functions"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/api/models"
	"github.com/trunklinehq/trunkline/server/internal/api/modelusage"
	"github.com/trunklinehq/trunkline/server/internal/api/payments"
	"github.com/trunklinehq/trunkline/server/internal/api/projectfiles"
	"github.com/trunklinehq/trunkline/server/internal/api/references"
	"github.com/trunklinehq/trunkline/server/internal/api/remotes"
	"github.com/trunklinehq/trunkline/server/internal/api/sandboxes"
	"github.com/trunklinehq/trunkline/server/internal/api/stream"
	"github.com/trunklinehq/trunkline/server/internal/api/uploads"
	"github.com/trunklinehq/trunkline/server/internal/api/users"
	"github.com/trunklinehq/trunkline/server/internal/api/webhooks"
	"github.com/trunklinehq/trunkline/server/internal/bridge"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/internal/openapi"
	"github.com/trunklinehq/trunkline/server/internal/pages"
	"github.com/trunklinehq/trunkline/server/mail"
)

// routes connects every route to its handler, and makes the handler of all.
func (s *Server) routes() error {
	s.router = mux.NewRouter().UseEncodedPath() // an id in a path may hold a slash
	guard := &middleware.Guard{
		Auth: s.Auth, Cookies: s.cookies(), Limit: s.cfg.APILimit, Now: s.cfg.local, Origins: middleware.NewOrigins(s.cfg.BaseURL),
		Problem: s.problems.Of, Quotas: s.Quotas, Recording: s.recording(),
	}
	scope := &bridge.ReferenceScope{Bots: s.Bots, Extractors: s.Extractors, Runs: s.Runs, Webhooks: s.Webhooks}
	s.api = httpapi.NewAPI(httpapi.Options{
		Router: s.router, Version: s.cfg.Version, BaseURL: s.cfg.BaseURL, Cookie: s.cookies().Name(),
		Schemas: openapi.Schemas, Guard: guard.Operation, Problem: s.problems.Of, Inside: scope.Inside, Deleted: s.db.Erased,
	})
	guard.API = s.api
	(&users.API{Auth: s.Auth, Cookies: s.cookies(), InvitationLink: func(token string) string { return mail.InvitationLink(s.cfg.BaseURL, token) }}).Register(s.api)
	(&users.Factors{Auth: s.Auth, Cookies: s.cookies()}).Register(s.api)
	(&accounts.API[Account]{Auth: s.Auth, Close: s.adapters.accounts.Close, Log: s.log, Show: s.Account}).Register(s.api)
	(&jobs.API{Jobs: s.Jobs}).Register(s.api)
	s.probe.register(s.api)
	(&references.API{Jobs: s.Jobs, Messaging: s.Messaging, Runs: s.Runs}).Register(s.api)
	(&chats.API{Messaging: s.Messaging}).Register(s.api)
	(&contacts.API{Audit: s.audit, Jobs: s.Jobs, Log: s.log, Messaging: s.Messaging, Now: s.cfg.Now, Webhooks: s.Webhooks}).Register(s.api)
	(&explain.API{Messaging: s.Messaging, Runs: s.Runs, Webhooks: s.Webhooks}).Register(s.api)
	(&flows.Projects{Audit: s.audit, Flows: s.Flows}).Register(s.api)
	(&models.API{Models: s.models, Runs: s.Runs}).Register(s.api)
	(&flows.Bots{Bots: s.Bots, Messaging: s.Messaging}).Register(s.api)
	(&flows.Flows{FirstModel: s.cfg.defaultModel(), Flows: s.Flows, Messaging: s.Messaging, Models: s.models, Runs: s.Runs, Usage: s.Usage}).Register(s.api)
	(&flows.Runs{Agents: s.Agents, Begin: s.adapters.starter.Begin, Bots: s.Bots, Flows: s.Flows, Messaging: s.Messaging, Usage: s.Usage}).Register(s.api)
	(&flows.Simulations{
		Bots: s.Bots, Flows: s.Flows, Messaging: s.Messaging, Now: s.cfg.Now, Runs: s.Runs, Snapshot: s.adapters.host.Snapshot,
		Message: func(p messaging.MessagePayload) map[string]any { return bridge.FlowMessage(s.cfg.BaseURL, p) },
	}).Register(s.api)
	(&credentials.API{Credentials: s.Credentials}).Register(s.api)
	(&remotes.API{Credentials: s.Credentials, DB: s.db, Remote: s.Remote}).Register(s.api)
	(&extractors.API{Bots: s.Bots, Extractors: s.Extractors, Flows: s.Flows, Messaging: s.Messaging}).Register(s.api)
	(&projectfiles.API{Knowledge: s.Knowledge, Flows: s.Flows}).Register(s.api)
	(&stream.API{Authenticate: guard.Caller, Log: s.log, Messaging: s.Messaging, Stopping: s.stopping}).Register(s.api)
	(&webhooks.API{Messaging: s.Messaging, Now: s.cfg.Now, Webhooks: s.Webhooks}).Register(s.api)
	(&sandboxes.API{Echo: s.echo, Messaging: s.Messaging}).Register(s.api)
	(&uploads.API{Messaging: s.Messaging}).Register(s.api)
	(&functions.API{MCP: func() *mcp.Registry { return s.MCP }}).Register(s.api)
	(&accounts.Audit{BaseURL: s.cfg.BaseURL, Log: s.log, Store: s.audit}).Register(s.api)
	(&modelusage.API{Usage: s.Usage, Flows: s.Flows, Messaging: s.Messaging}).Register(s.api)
	signIn := &users.SignIn{
		Auth: s.Auth, BaseURL: s.cfg.BaseURL, Closed: s.cfg.ClosedSignUp, Cookies: s.cookies(), Keys: s.keys, Log: s.log, Name: s.cfg.OIDC.Name,
		Problem: s.problems.Of, Provider: s.oidc, Recording: s.recording().Context,
	}
	signIn.Register(s.api)
	signIn.Mount(s.router)
	(&callbacks.API{Messaging: s.Messaging, Now: s.cfg.local, Problem: s.problems.Of}).Mount(s.router)
	(&cloudapi.API{
		BaseURL: s.cfg.BaseURL, Messaging: s.Messaging, Problem: s.problems.Of, Recorded: s.recording().Agent, Token: guard.Token,
	}).Mount(s.router)
	(&payments.API{Billing: s.Billing, Problem: s.problems.Of}).Mount(s.router)
	site := &pages.Pages{BaseURL: s.cfg.BaseURL, Media: s.media, Panel: s.cfg.Panel, Problem: s.problems.Of}
	site.MountFiles(s.router)
	s.api.Finish()
	s.api.Describe(callbacks.Describe, payments.Describe, openapi.Describe, uploads.Describe, functions.DescribeOutcomes,
		accounts.DescribeAudit, users.DescribeSignUp, openapi.Complete)
	agents := &functions.Agents{Problems: s.problems, Token: guard.Token}
	if err := functions.MountProtocol(s.router, s.MCP, protocol.Options{
		BaseURL: s.cfg.BaseURL, Authenticate: agents.Authenticate, Context: s.recording().Agent, Version: s.cfg.Version, Logger: s.log,
	}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	site.Mount(s.router, s.api.Document)
	stack := &middleware.Stack{
		API: s.api, BaseURL: s.cfg.BaseURL, DB: s.db, Log: s.log, Metrics: middleware.NewMetrics(s.Metrics, s.cfg.Version), Now: s.cfg.Now,
		Quiet: probePath, Router: s.router, Tracing: s.tracing, Trusted: s.cfg.TrustedProxies,
	}
	s.handler = stack.Handler()
	return nil
}

func (s *Server) cookies() cookies.Jar { return cookies.Jar{BaseURL: s.cfg.BaseURL} }

func (s *Server) recording() middleware.Recording { return middleware.Recording{Store: s.audit} }

// translations make problems of those errors of services that are not of package
// apierr; the first that knows one wins.
var translations = httpapi.Translators{users.Problem, references.Problem, flows.Problem, remotes.Problem, modelusage.Problem, projectfiles.Problem, accounts.Problem}
