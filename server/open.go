package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/mcp"
	mcpfunctions "github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
	"github.com/trunklinehq/trunkline/server/internal/api/functions"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/api/users"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/bridge"
	"github.com/trunklinehq/trunkline/server/internal/bridge/metrics"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/server/quota"
	"github.com/trunklinehq/trunkline/webhook"
)

// open makes the services in the order in which they need each other. Adapters
// let a service reach those that are made after it: see [Server.connect].
func (s *Server) open(ctx context.Context) error {
	for _, open := range []func(context.Context) error{
		s.openAccounts, s.openMessaging, s.openModels, s.openFlows,
	} {
		if err := open(ctx); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	s.connect()
	metrics.Queues(s.Metrics, s.Messaging, s.Runs, s.Webhooks)
	metrics.References(s.Metrics, s.Messaging)
	metrics.Clock(s.Metrics, s.db)
	if err := s.openMCP(ctx); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// openAccounts opens what is about accounts and their users: the audit logs,
// users and tokens, quotas and subscriptions.
func (s *Server) openAccounts(ctx context.Context) (err error) {
	c := s.cfg
	if s.audit, err = auditlog.New(ctx, c.DB, &auditlog.Options{Retention: c.ChangeRetention, Logger: s.log, Now: c.Now}); err != nil {
		return err
	}
	if err := s.openAuth(ctx); err != nil {
		return err
	}
	if s.Quotas, err = quota.New(ctx, c.DB, &quota.Options{Defaults: c.Quotas, Now: c.Now, Used: s.adapters.quotas.Used()}); err != nil {
		return err
	}
	if s.Billing, err = billing.New(ctx, c.DB, &billing.Options{
		Secret: string(c.PaymentsSecret), Known: s.Auth.Accounts().LockTx,
		Changed:  s.adapters.subscriptions.ChangedTx,
		Received: metrics.Payments(s.Metrics), Logger: c.Logger, Now: c.Now,
	}); err != nil {
		return err
	}
	s.Jobs, err = job.Open(ctx, c.DB, &job.Options{
		Kinds:  map[string]job.Do{jobs.Chat: s.adapters.jobs.Chat, jobs.Reference: s.adapters.jobs.Reference},
		Logger: c.Logger, Now: c.Now,
	})
	return err
}

// openAuth opens what keeps users. Without a mail server it sends no links.
func (s *Server) openAuth(ctx context.Context) (err error) {
	c := s.cfg
	o := auth.Options{
		Secrets: c.secrets(), Closed: c.ClosedSignUp, Logger: c.Logger, Now: c.Now, Cost: c.passwords,
		HasReferences: func(ctx context.Context, account string, ids []int64) (bool, error) {
			return s.Messaging.For(account).References().Exist(ctx, ids)
		},
	}
	if o.Site, err = passkey.SiteOf(c.BaseURL); err != nil {
		c.Logger.InfoContext(ctx, "there are no passkeys", slog.Any("error", err))
	}
	if c.SMTPURL != "" {
		mails, err := bridge.NewMailer(string(c.SMTPURL), c.BaseURL)
		if err != nil {
			return fmt.Errorf("Config.SMTPURL: %w", err)
		}
		o.SendReset, o.SendInvitation, o.SendSignUp = mails.Reset, mails.Invitation, mails.SignUp
	}
	if c := c.OIDC; c.Issuer != "" {
		s.oidc = oidc.New(oidc.Config{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret),
			RedirectURL: s.cfg.BaseURL + users.OIDCCallbackPath, Now: s.cfg.ownClock,
		})
	}
	s.Auth, err = auth.New(ctx, c.DB, &o)
	return err
}

// eventTypes are the types of events of chats. The aliases are the names that users know
// from other gateways.
var eventTypes = []webhook.Type{
	{Name: "message", Aliases: []string{"messages"}},
	{Name: "status", Aliases: []string{"statuses"}},
	{Name: "data"},
	{Name: "calls", Aliases: []string{"call"}},
	{Name: "subscription", Aliases: []string{"subscriptions"}},
	{Name: "session", Aliases: []string{"sessions"}, OptIn: true},
}

// openMessaging opens what keeps chats, and the webhooks that are told of them.
func (s *Server) openMessaging(ctx context.Context) (err error) {
	c := s.cfg
	s.providers = append([]provider.Provider{
		sandbox.New(),
		cloud.New(&cloud.Options{GraphURL: c.GraphURL, AppSecret: string(c.MetaAppSecret), VerifyToken: string(c.MetaVerifyToken), Logger: c.Logger, Now: c.ownClock}),
		messenger.New(&messenger.Options{GraphURL: c.GraphURL, AppSecret: string(c.MetaAppSecret), VerifyToken: string(c.MetaVerifyToken), Logger: c.Logger, Now: c.ownClock}),
	}, c.Providers...)
	s.echo = &webhook.Echo{}
	s.Webhooks, err = webhook.New(ctx, c.DB, &webhook.Options{
		Types: eventTypes, UserAgent: "Trunkline", HeaderPrefix: "X-Trunkline-",
		Secrets: c.secrets(), Allow: c.WebhookAllow, Echo: s.echo, Formats: s.adapters.formats.Formats(), Retention: c.DeliveryRetention, Exclusive: c.Exclusive,
		Sink: &s.adapters.stream, Observer: metrics.Webhooks(s.Metrics), Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.ownClock,
	})
	if err != nil {
		return err
	}
	if c.Media != nil {
		if s.media, err = media.New(c.Media, &media.Options{
			Secrets: c.secrets(), NotFound: http.HandlerFunc(middleware.NotFound), Logger: c.Logger, NoPrograms: c.noPrograms, ProgramTime: c.programTime,
		}); err != nil {
			return err
		}
	}
	s.Messaging, err = messaging.New(ctx, c.DB, &messaging.Options{
		Providers: s.providers, Media: s.media, Allow: c.WebhookAllow, Secrets: c.secrets(), Retention: c.MessageRetention, Exclusive: c.Exclusive,
		Sinks: []messaging.Sink{&s.adapters.sinks}, Erasers: []messaging.Eraser{&s.adapters.sinks, &s.adapters.contacts},
		Observer: metrics.Messaging(s.Metrics), Admit: s.adapters.quotas.Admit, Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.Now,
	})
	return err
}

// openModels opens what asks language models: their ledger, extractors,
// assistants and agents, with what these remember and know.
func (s *Server) openModels(ctx context.Context) (err error) {
	c := s.cfg
	all := map[string]llm.Model{flows.MockModels: mock.New()}
	maps.Copy(all, c.Models)
	if s.models, err = llm.NewModels(all); err != nil {
		return fmt.Errorf("Config.Models: %w", err)
	}
	if s.Usage, err = usage.New(ctx, c.DB, &usage.Options{Prices: c.Prices, Logger: c.Logger, Now: c.Now}); err != nil {
		return err
	}
	if s.Extractors, err = store.New(ctx, c.DB, &store.Options{
		Model: bridge.ExtractorModel(s.models, s.Usage), Exclusive: c.Exclusive, Logger: c.Logger, Now: c.Now,
	}); err != nil {
		return err
	}
	chats := &s.adapters.chats
	if s.Memory, err = memory.New(ctx, c.DB, &memory.Options{Names: chats.Names, Lock: chats.LockRun, Retention: c.MessageRetention, Logger: c.Logger, Now: c.Now}); err != nil {
		return err
	}
	embed, err := bridge.NewEmbedder(s.models, s.Usage, c.EmbeddingModel)
	if err != nil {
		return err
	}
	if s.Knowledge, err = knowledge.New(ctx, c.DB, &knowledge.Options{Embed: embed, Admit: s.adapters.quotas.AdmitFile, Logger: c.Logger, Now: c.Now}); err != nil {
		return err
	}
	tools := &s.adapters.tools
	if s.Assistant, err = assistant.New(s.models, &assistant.Options{
		Ledger: s.Usage, Memory: s.Memory, Knowledge: s.Knowledge, Model: c.defaultModel(), Project: tools.Project, File: chats.File,
		Typing: chats.ShowTyping, Logger: c.Logger, Now: c.Now,
	}); err != nil {
		return err
	}
	s.Agents, err = agent.New(ctx, c.DB, s.models, s.Usage, &agent.Options{
		Memory: s.Memory, Tools: tools.Tools, Project: tools.Project, Logger: c.Logger, Now: c.Now,
	})
	return err
}

// openFlows opens what runs flows, the engines that own them, and what flows
// reach outside: credentials and the tools of foreign servers.
func (s *Server) openFlows(ctx context.Context) (err error) {
	c := s.cfg
	if s.Credentials, err = credential.New(ctx, c.DB, &credential.Options{Secrets: c.secrets(), Allow: c.WebhookAllow, Now: c.Now}); err != nil {
		return err
	}
	authorize := bridge.Authorize(s.Credentials)
	if s.Remote, err = remote.New(ctx, c.DB, &remote.Options{
		Authorize: authorize, Allow: c.WebhookAllow, Programs: c.Programs, Own: bridge.IsOwn(c.BaseURL), Version: c.Version, Logger: c.Logger, Now: c.local,
	}); err != nil {
		return err
	}
	types := node.NewTypes()
	types.ReadAnswers(bridge.AnswerReader{})
	for _, own := range c.Nodes {
		if err := types.Register(own); err != nil {
			return fmt.Errorf("Config.Nodes: %w", err)
		}
	}
	foreign := &bridge.ForeignTools{Log: s.log, Remote: s.Remote}
	opts := &runtime.Options{
		Types: types, Allow: c.WebhookAllow, Retention: c.MessageRetention, Exclusive: c.Exclusive,
		Authorize: authorize, Repeatable: foreign.Repeatable, Admit: s.adapters.quotas.AdmitRun,
		Observer: metrics.Runs(s.Metrics), Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.Now,
		Extractor: func(account string) flow.Extractor { return bridge.FlowExtractor{Account: s.Extractors.For(account)} },
		Callers: map[flow.CallKind]runtime.Caller{
			flow.CallTool: foreign.Call, flow.CallAgent: s.Agents.Act, flow.CallAssistant: s.Assistant.Answer, flow.CallExtract: s.Assistant.Extract,
		},
	}
	if c.flows != nil {
		c.flows(opts)
	}
	if s.Runs, err = runtime.New(ctx, c.DB, &s.adapters.host, opts); err != nil {
		return err
	}
	if s.Bots, err = botengine.New(ctx, c.DB, s.Runs, &botengine.Options{
		Deleted: func(ctx context.Context, account, bot string) error {
			return s.Extractors.For(account).DeleteBot(ctx, bot)
		},
		Admit: s.adapters.quotas.AdmitVersion, Logger: c.Logger, Now: c.Now,
	}); err != nil {
		return err
	}
	environment := &bridge.Environment{Credentials: s.Credentials, Extractors: s.Extractors, Remote: s.Remote}
	s.Flows, err = aiflow.New(ctx, c.DB, &aiflow.Options{
		Runs: s.Runs, Environment: environment.Fill, Admit: s.adapters.quotas.AdmitVersion, Logger: c.Logger, Now: c.Now,
		Deleted: func(ctx context.Context, account, id string) error {
			return s.Extractors.For(account).DeleteFlow(ctx, id)
		},
	})
	return err
}

// openMCP makes the registry of what agents may call: the built-in functions,
// then those of the embedding program.
func (s *Server) openMCP(ctx context.Context) (err error) {
	c := s.cfg
	agents := functions.Agents{Problems: s.problems}
	if s.MCP, err = mcp.New(ctx, c.DB, &mcp.Options{
		Limit: c.MCPLimit, AccountLimit: c.MCPAccountLimit, Retention: c.AuditRetention,
		Translate: agents.Translate, Observer: metrics.MCP(s.Metrics), Logger: c.Logger, Now: c.ownClock,
	}); err != nil {
		return err
	}
	if err := mcpfunctions.Register(s.MCP, s.Messaging, &mcpfunctions.Options{Bots: bridge.BotSwitch{Bots: s.Bots}, Flows: &s.adapters.starter}); err != nil {
		return err
	}
	if c.Functions == nil {
		return nil
	}
	if err := c.Functions(s); err != nil {
		return fmt.Errorf("Config.Functions: %w", err)
	}
	return nil
}
