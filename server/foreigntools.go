package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// openRemote opens what speaks to foreign MCP servers.
func (s *Server) openRemote(ctx context.Context) (err error) {
	c := s.cfg
	s.Remote, err = remote.New(ctx, c.DB, &remote.Options{
		Authorize: s.authorize, Allow: c.WebhookAllow, Programs: c.Programs, Own: s.isOwn, Version: c.Version, Logger: c.Logger, Now: c.Now,
	})
	return err
}

// isOwn says whether an address is on the host where this server is reached.
func (s *Server) isOwn(address string) bool {
	own, err := url.Parse(s.cfg.BaseURL)
	u, bad := url.Parse(address)
	return err == nil && bad == nil && own.Host != "" && strings.EqualFold(u.Host, own.Host)
}

// callTool answers the calls of tool nodes.
func (s *Server) callTool(ctx context.Context, c runtime.Request) (any, error) {
	req, ok := c.Call.Request.(flow.ToolRequest)
	if !ok {
		return nil, fmt.Errorf("a tool call has a request of the type %T", c.Call.Request)
	}
	args, err := json.Marshal(req.Arguments)
	if err != nil || req.Arguments == nil {
		args = nil
	}
	out, err := s.Remote.For(c.Run.Chat.Account).Call(ctx, remote.Call{Server: req.Server, Tool: req.Tool, Arguments: args, Key: c.Key})
	var failed *remote.Error
	if errors.As(err, &failed) {
		e := &flow.Error{Code: string(failed.Code), Message: failed.Message}
		if failed.Safe && req.Auto {
			e.Detail = map[string]any{"safe": true}
		}
		return nil, e
	}
	if err != nil {
		s.log.ErrorContext(ctx, "a tool could not be called", "error", err)
		return nil, &flow.Error{Code: flow.CodeMCPConnect, Message: "The tool could not be called."}
	}
	return out.JSON(), nil
}

// repeatable says whether a tool lets a call be made twice.
func (s *Server) repeatable(ctx context.Context, c runtime.Request) bool {
	req, ok := c.Call.Request.(flow.ToolRequest)
	return ok && s.Remote.For(c.Run.Chat.Account).Repeatable(ctx, req.Server, req.Tool)
}
