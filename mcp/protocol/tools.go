package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
)

// addTools adds the functions of the registry to the server.
func (h *Handler) addTools(server *sdk.Server) error {
	h.tools = map[string]mcp.Tool{}
	for _, f := range h.registry.Tools() {
		output, err := resultOrError(f.Output)
		if err != nil {
			return fmt.Errorf("function %q: %w", f.Name, err)
		}
		h.tools[f.Name] = f
		destructive := f.Destructive
		server.AddTool(&sdk.Tool{
			Name: f.Name, Title: f.Title, Description: f.Description, InputSchema: f.Input, OutputSchema: output,
			Annotations: &sdk.ToolAnnotations{
				Title: f.Title, ReadOnlyHint: f.ReadOnly, IdempotentHint: f.Idempotent, DestructiveHint: &destructive,
			},
		}, h.call)
	}
	return nil
}

// call executes a function. A failure is a result too, so that the model can react
// to it.
func (h *Handler) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	arguments := req.Params.Arguments
	if string(arguments) == "null" { // some clients send null for no arguments
		arguments = nil
	}
	out := h.registry.Execute(ctx, callerOf(ctx), mcp.Request{
		Function: req.Params.Name, Arguments: arguments, Progress: progress(ctx, req),
	})
	if out.Error != nil {
		return failed(out.Error)
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(out.Result)}},
		StructuredContent: out.Result,
	}, nil
}

// progress returns a function that reports progress to a client that asked for it.
// Reports may be lost, so errors are ignored.
func progress(ctx context.Context, req *sdk.CallToolRequest) func(done, total float64, text string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(done, total float64, text string) {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: total, Message: text,
		})
	}
}

// failed returns an error as text for the model and as members for programs.
func failed(e *mcp.Error) (*sdk.CallToolResult, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", e.Code, e.Message)
	for _, d := range e.Details {
		fmt.Fprintf(&text, "\n- %s: %s", d.Argument, d.Message)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&text, "\nTry again in %d seconds.", seconds(e.RetryAfter))
	}
	structured, err := json.Marshal(map[string]*mcp.Error{failureMember: e})
	if err != nil {
		return nil, fmt.Errorf("writing an error: %w", err)
	}
	return &sdk.CallToolResult{
		IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text.String()}}, StructuredContent: json.RawMessage(structured),
	}, nil
}

// seconds returns a duration in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
