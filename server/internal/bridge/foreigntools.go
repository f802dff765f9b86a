package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// IsOwn returns a function that reports whether an address is on the host of
// baseURL.
func IsOwn(baseURL string) func(address string) bool {
	return func(address string) bool {
		own, err := url.Parse(baseURL)
		u, bad := url.Parse(address)
		return err == nil && bad == nil && own.Host != "" && strings.EqualFold(u.Host, own.Host)
	}
}

// ForeignTools lets flows call the tools of foreign MCP servers.
type ForeignTools struct {
	Log    *slog.Logger
	Remote *remote.Service
}

// Call answers the calls of tool nodes.
func (s *ForeignTools) Call(ctx context.Context, c runtime.Request) (any, error) {
	req, ok := c.Call.Request.(flow.ToolRequest)
	if !ok {
		return nil, fmt.Errorf("a tool call has a request of the type %T", c.Call.Request)
	}
	args, err := json.Marshal(req.Arguments)
	if err != nil || req.Arguments == nil {
		args = nil
	}
	out, err := s.Remote.For(c.Run.Chat.Account).Call(ctx, remote.Call{Server: req.Server, Tool: req.Tool, Arguments: args, Key: c.Key})
	if failed, ok := errors.AsType[*remote.Error](err); ok {
		e := &flow.Error{Code: string(failed.Code), Message: failed.Message}
		if failed.Safe && req.Auto {
			e.Detail = map[string]any{"safe": true}
		}
		return nil, e
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "a tool could not be called", "error", err)
		return nil, &flow.Error{Code: flow.CodeMCPConnect, Message: "The tool could not be called."}
	}
	return out.JSON(), nil
}

// Repeatable reports whether a tool lets a call be made twice.
func (s *ForeignTools) Repeatable(ctx context.Context, c runtime.Request) bool {
	req, ok := c.Call.Request.(flow.ToolRequest)
	return ok && s.Remote.For(c.Run.Chat.Account).Repeatable(ctx, req.Server, req.Tool)
}
