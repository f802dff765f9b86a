package server

import (
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server/internal/bridge"
	"github.com/trunklinehq/trunkline/server/internal/bridge/erasure"
)

// adapters are given to services while these are opened, and work once
// [Server.connect] has filled them: services call each other in both
// directions.
type adapters struct {
	accounts      erasure.Accounts
	chats         bridge.AssistantChats
	contacts      erasure.Contacts
	formats       bridge.HookFormats
	host          bridge.FlowHost
	jobs          erasure.Jobs
	quotas        bridge.Quotas
	sinks         bridge.Sinks
	starter       bridge.FlowStarter
	stream        bridge.DeliveryStream
	subscriptions bridge.Subscriptions
	tools         bridge.AgentTools
}

// connect fills the adapters. All services exist but the registry of functions,
// which an embedding program may replace at any time.
func (s *Server) connect() {
	c, a := s.cfg, &s.adapters
	registry := func() *mcp.Registry { return s.MCP }
	a.accounts = erasure.Accounts{
		Audit: s.audit, Auth: s.Auth, Billing: s.Billing, Bots: s.Bots, Credentials: s.Credentials, DB: s.db, Extractors: s.Extractors,
		Flows: s.Flows, Jobs: s.Jobs, Knowledge: s.Knowledge, Log: s.log, MCP: registry, Memory: s.Memory, Messaging: s.Messaging, Now: c.Now,
		Quotas: s.Quotas, Remote: s.Remote, Runs: s.Runs, Usage: s.Usage, Webhooks: s.Webhooks,
	}
	a.chats = bridge.AssistantChats{BaseURL: c.BaseURL, Log: s.log, Media: s.media, Messaging: s.Messaging, Runs: s.Runs}
	a.contacts = erasure.Contacts{Audit: s.audit, MCP: registry, Memory: s.Memory, Usage: s.Usage}
	a.formats = bridge.HookFormats{BaseURL: c.BaseURL, Messaging: s.Messaging, Providers: s.providers}
	a.host = bridge.FlowHost{
		Bots: s.Bots, DB: s.db, Extractors: s.Extractors, Flows: s.Flows, Log: s.log, Memory: s.Memory, Messaging: s.Messaging, Now: c.Now,
		Runs: s.Runs, Webhooks: s.Webhooks,
	}
	a.jobs = erasure.Jobs{
		Bots: s.Bots, DB: s.db, Extractors: s.Extractors, Flows: s.Flows, Memory: s.Memory, Messaging: s.Messaging, Runs: s.Runs,
		Usage: s.Usage, Webhooks: s.Webhooks,
	}
	a.quotas = bridge.Quotas{Bots: s.Bots, DB: s.db, Flows: s.Flows, Knowledge: s.Knowledge, Messaging: s.Messaging, Quotas: s.Quotas, Runs: s.Runs}
	a.sinks = bridge.Sinks{
		BaseURL: c.BaseURL, Bots: s.Bots, DB: s.db, Extractors: s.Extractors, Flows: s.Flows, Messaging: s.Messaging, Now: c.Now,
		Runs: s.Runs, Webhooks: s.Webhooks,
	}
	a.starter = bridge.FlowStarter{Flows: s.Flows, Messaging: s.Messaging}
	a.stream = bridge.DeliveryStream{Messaging: s.Messaging}
	a.subscriptions = bridge.Subscriptions{Now: c.Now, Recording: s.recording(), Webhooks: s.Webhooks}
	a.tools = bridge.AgentTools{Audit: s.audit, Auth: s.Auth, Flows: s.Flows, Log: s.log, MCP: registry, Remote: s.Remote, Runs: s.Runs}
}
