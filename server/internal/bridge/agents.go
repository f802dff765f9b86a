package bridge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
)

// AgentTools are the tools of the agents in flows.
type AgentTools struct {
	Audit  *auditlog.Store
	Auth   *auth.Service
	Flows  *aiflow.Service
	Log    *slog.Logger
	MCP    func() *mcp.Registry
	Remote *remote.Service
	Runs   *runtime.Runtime
}

// Project returns the project of a flow; "": the flow is gone.
func (s *AgentTools) Project(ctx context.Context, account, flow string) (string, error) {
	project, err := s.Flows.For(account).Flows().ProjectOf(ctx, flow)
	if errors.Is(err, aiflow.ErrNotFound) {
		return "", nil
	}
	return project, err
}

// Tools returns the tools of an agent: functions of the registry, functions of
// its project, and tools of foreign servers, each only if the flow names it.
func (s *AgentTools) Tools(ctx context.Context, scope agent.Scope, r *flow.AgentRequest) ([]llm.Tool, error) {
	own, err := s.registryTools(ctx, scope, r)
	if err != nil {
		return nil, err
	}
	functions, err := s.functionTools(ctx, scope, r)
	if err != nil {
		return nil, err
	}
	foreign, err := s.Remote.For(scope.Run.Chat.Account).Tools(ctx, r.Servers)
	if failed, ok := errors.AsType[*remote.Error](err); ok {
		return nil, &flow.Error{Code: string(failed.Code), Message: failed.Message}
	}
	if err != nil {
		return nil, err
	}
	foreign = slices.DeleteFunc(foreign, func(t llm.Tool) bool { return !namesTool(r, t.Origin) })
	return slices.Concat(functions, own, foreign), nil
}

// namesTool says whether a node names a tool: by its name, by "server/*", or by "*".
func namesTool(r *flow.AgentRequest, origin string) bool {
	server, _, foreign := strings.Cut(origin, "/")
	return slices.ContainsFunc(r.Tools, func(t string) bool {
		return t == "*" || t == origin || foreign && t == server+"/*"
	})
}
