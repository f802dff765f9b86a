package protocol

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
)

// recovered recovers from panics of handlers, which the SDK runs in goroutines of
// their own. The log has the panic; the client does not.
func (h *Handler) recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				h.logger.ErrorContext(ctx, "handler panicked", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		return next(ctx, method, req)
	}
}

// visible removes from lists what the caller may not use.
func (h *Handler) visible(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil {
			return res, err
		}
		caller := callerOf(ctx)
		switch list := res.(type) {
		case *sdk.ListToolsResult:
			list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return h.hidden(caller, t.Name) })
		case *sdk.ListResourceTemplatesResult:
			list.ResourceTemplates = slices.DeleteFunc(list.ResourceTemplates, func(t *sdk.ResourceTemplate) bool {
				r := h.resources[t.URITemplate]
				return r != nil && h.hidden(caller, r.Function)
			})
		case *sdk.ListPromptsResult:
			list.Prompts = slices.DeleteFunc(list.Prompts, func(p *sdk.Prompt) bool {
				ours := h.prompts[p.Name]
				return ours != nil && slices.ContainsFunc(ours.Functions, func(f string) bool { return h.hidden(caller, f) })
			})
		}
		return res, nil
	}
}

// hidden reports whether a name is a function of the registry that the caller may
// not call. Tools that [Options.Extend] added are never hidden.
func (h *Handler) hidden(c mcp.Caller, function string) bool {
	_, ours := h.tools[function]
	return ours && !h.registry.Allowed(c, function)
}

// unknown passes calls of unknown tools to the registry, which records them in the
// audit log. The SDK then answers the client. It ignores tools that
// [Options.Extend] added.
func (h *Handler) unknown(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if call, ok := req.(*sdk.CallToolRequest); ok && call.Params != nil && h.options.Extend == nil {
			caller := callerOf(ctx)
			if _, ours := h.tools[call.Params.Name]; !ours && !h.registry.Allowed(caller, call.Params.Name) {
				h.registry.Execute(ctx, caller, mcp.Request{Function: call.Params.Name, Arguments: call.Params.Arguments})
			}
		}
		return next(ctx, method, req)
	}
}
