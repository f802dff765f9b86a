package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

// openMCP makes the registry of what agents may call: the built-in functions,
// then those of the program around.
func (s *Server) openMCP(ctx context.Context) error {
	c := s.cfg
	var err error
	s.MCP, err = mcp.New(ctx, c.DB, &mcp.Options{
		Limit: c.MCPLimit, AccountLimit: c.MCPAccountLimit, Retention: c.AuditRetention,
		Translate: s.toolError, Observer: s.mcpMetrics(), Logger: c.Logger, Now: c.ownClock,
	})
	if err != nil {
		return err
	}
	if err := functions.Register(s.MCP, s.Messaging, &functions.Options{Bots: botSwitch{s}, Flows: flowRunner{s}}); err != nil {
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

// functionCaller is who calls functions with the rights of a caller.
func functionCaller(c auth.Caller) mcp.Caller {
	out := mcp.Caller{
		Account: c.Account, User: c.User, May: func(p string) bool { return c.Can(auth.Permission(p)) },
		On: func(p string) []int64 {
			only, _ := c.References(auth.Permission(p))
			return only
		},
	}
	if c.Scoped {
		out.Token = c.TokenID
	}
	return out
}

// toolError tells a caller of a function what a client of the REST API is
// told. nil: neither is told anything.
func (s *Server) toolError(err error) *mcp.Error {
	p := s.problems.Find(context.Background(), err)
	if p == nil || p.Code == httpapi.CodeInternal {
		return nil
	}
	return toolProblem(p)
}

// toolProblem says a problem in the words of functions.
func toolProblem(p *Problem) *mcp.Error {
	e := &mcp.Error{Code: p.Code, Message: p.Detail, RetryAfter: p.After, Status: p.Status}
	if p.Code == httpapi.CodeValidation {
		e.Code, e.Message = mcp.CodeInvalidArguments, "the arguments are not valid"
	}
	for _, fe := range p.Errors {
		_, argument, _ := strings.Cut(fe.Location, ".")
		e.Details = append(e.Details, mcp.Detail{Argument: argument, Message: fe.Message})
	}
	return e
}

// recordingAgent is recording for what [Server.agentOf] has let in.
func (s *Server) recordingAgent(ctx context.Context) context.Context {
	req := httpapi.RequestOf(ctx)
	return s.recording().Context(ctx, req, req.Caller)
}

// agentOf says who has a bearer token, for what is no operation of the API.
func agentOf(ctx context.Context, guard *middleware.Guard, token string) (mcp.Caller, error) {
	caller, err := guard.Token(ctx, token)
	if err == nil && !caller.Can(auth.MCPExecute) {
		err = httpapi.MissingPermission(auth.MCPExecute)
	}
	if err == nil {
		return functionCaller(caller), nil
	}
	if p := translations.Problem(err); p != nil {
		return mcp.Caller{}, toolProblem(p)
	}
	return mcp.Caller{}, err
}
