package protocol_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// newest is the revision without a handshake.
const newest = "2026-07-28"

// withToken sends a token with each request.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns the official Go client with its default revision.
func connect(t testing.TB, address, token string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, opts).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: address + protocol.Path, HTTPClient: &http.Client{Transport: withToken(token)},
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestTools checks what a client sees of a function, and that callers do not see
// functions that they may not call.
func TestTools(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)

	list, err := connect(t, address, everything, nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	tools := map[string]*sdk.Tool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	require.Len(t, tools, 7)
	got, err := json.Marshal(tools["order_state"])
	require.NoError(t, err)
	require.JSONEq(t, `{
		"name": "order_state", "title": "State of an order", "description": "Says whether an order has left.",
		"annotations": {"title": "State of an order", "readOnlyHint": true, "idempotentHint": false, "destructiveHint": false},
		"inputSchema": {"type": "object", "additionalProperties": false, "required": ["reference", "id"], "properties": {
			"reference": {"type": "integer", "description": "Number of the order.", "minimum": 1},
			"id": {"type": "string", "description": "Whose it is.", "maxLength": 40}}},
		"outputSchema": {"type": "object", "anyOf": [{"required": ["reference", "id", "state"]}, {"required": ["error"]}], "properties": {
			"reference": {"type": "integer"}, "id": {"type": "string"}, "state": {"type": "string"},
			"error": {"type": "object", "description": "The reason why the call failed. Then there are no other members.", "required": ["code", "message", "details"],
				"properties": {
					"code": {"type": "string", "description": "Stable identifier of the error."},
					"message": {"type": "string", "description": "Explanation of the error."},
					"details": {"type": "array", "items": {"type": "object", "required": ["argument", "message"],
						"properties": {"argument": {"type": "string"}, "message": {"type": "string"}}}}}}}}
	}`, string(got))
	cancel := tools["cancel_order"].Annotations
	require.True(t, *cancel.DestructiveHint && cancel.IdempotentHint && !cancel.ReadOnlyHint)

	session := connect(t, address, reader, nil)
	list, err = session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "private", list.CacheScope)
	for _, tool := range list.Tools {
		require.NotEqual(t, "cancel_order", tool.Name)
	}
	require.Len(t, list.Tools, 6)
	prompts, err := session.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, prompts.Prompts, 1)
}

// TestCalls shows each way a call can end.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)
	for name, tc := range map[string]struct {
		token, tool, arguments string
		want                   string // the structured content
		text                   string // a part of the text
	}{
		"ok": {
			tool: "order_state", arguments: `{"reference":9007199254740993,"id":"ana"}`, text: `9007199254740993`,
			want: `{"reference":9007199254740993,"id":"ana","state":"sent"}`,
		},
		"arguments": {
			tool: "order_state", arguments: `{"reference":"1","extra":true}`, text: "- id: ",
			want: `"code":"invalid_arguments"`,
		},
		"not found": {
			tool: "order_state", arguments: `{"reference":1,"id":"nobody"}`, text: "not_found: there is no such order",
			want: `{"error":{"code":"not_found","message":"there is no such order","details":[]}}`,
		},
		"forbidden": {token: reader, tool: "cancel_order", arguments: `{}`, text: "forbidden", want: `"code":"forbidden"`},
		"timeout":   {tool: "late", arguments: `{}`, text: "timeout", want: `"code":"timeout"`},
		"panic":     {tool: "panics", arguments: `{}`, text: "internal", want: `"code":"internal"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.token == "" {
				tc.token = everything
			}
			got := post(t, address, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tc.tool+`","arguments":`+tc.arguments+`}}`,
				header("Authorization", "Bearer "+tc.token))
			require.Equal(t, http.StatusOK, got.status, got.body)
			result := answer(t, got.body)
			require.Equal(t, name != "ok", result.IsError)
			require.Contains(t, result.Content[0].Text, tc.text)
			require.Contains(t, string(result.StructuredContent), tc.want)
			require.NotContains(t, got.body, "secret")
		})
	}
}

type toolResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
}

// answer reads the result of a call as it is on the wire, where integers are
// still exact.
func answer(t *testing.T, stream string) toolResult {
	t.Helper()
	event := regexp.MustCompile(`(?m)^data: (.*"result".*)$`).FindStringSubmatch(stream)
	require.NotNil(t, event, stream)
	var message struct{ Result toolResult }
	require.NoError(t, json.Unmarshal([]byte(event[1]), &message))
	return message.Result
}

// TestLimit checks the error for a model that calls too often.
func TestLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t, &mcp.Options{Limit: 1})
	session := connect(t, serve(t, s.Registry, s.opts), everything, nil)
	for _, limited := range []bool{false, true} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "cancel_order"})
		require.NoError(t, err)
		require.Equal(t, limited, result.IsError)
		if limited {
			require.Regexp(t, `^rate_limited: .*\nTry again in \d+ seconds\.$`, result.Content[0].(*sdk.TextContent).Text)
		}
	}
}

// TestUnknown checks that the protocol refuses calls of unknown tools, and that the
// audit log has them.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	session := connect(t, serve(t, s.Registry, s.opts), everything, nil)
	add(t, s, mcp.Function[nothing, said]{
		Name: "registered_later", Description: "Nobody can call it.",
		Handler: func(context.Context, mcp.Call, nothing) (said, error) { panic("it is not served") },
	})
	for _, name := range []string{"no_such", "registered_later"} {
		_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
		refused(t, err, jsonrpc.CodeInvalidParams)
	}
	_, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "no_such"})
	refused(t, err, jsonrpc.CodeInvalidParams)

	page, err := s.For(mcp.OneAccount).Audit(t.Context(), mcp.AuditFilter{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "no_such", page.Items[0].Function)
}

func refused(t *testing.T, err error, code int64) *jsonrpc.Error {
	t.Helper()
	var e *jsonrpc.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	return e
}

// TestProgress checks that progress arrives before the result.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	var mu sync.Mutex
	var got []float64
	var more testsignal.Signal
	session := connect(t, serve(t, s.Registry, s.opts), everything, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, req.Params.Progress)
			more.Send()
		},
	})
	params := &sdk.CallToolParams{Name: "counts"}
	params.SetProgressToken("mine")
	result, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.False(t, result.IsError)
	testkit.Until(t, []*testsignal.Signal{&more}, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) == 4
	})
	require.Equal(t, []float64{1, 2, 3, 4}, got)
}

// TestHangingUp checks that a disconnected client ends its call on the newest
// revision, and that the deadline does on older ones.
func TestHangingUp(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits","arguments":{}META}}`
	for revision, tc := range map[string]struct {
		meta    string
		timeout time.Duration
		why     error
	}{
		newest: {
			meta: `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, timeout: time.Hour,
			why: context.Canceled,
		},
		"2025-11-25": {timeout: time.Second, why: context.DeadlineExceeded},
	} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, &mcp.Options{Limit: -1, AccountLimit: -1, Timeout: tc.timeout}) // it waits for no store
			address := serve(t, s.Registry, s.opts)
			ctx, hangUp := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, address+protocol.Path, strings.NewReader(strings.Replace(call, "META", tc.meta, 1)))
				for name, value := range map[string]string{
					"Authorization": "Bearer " + everything, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
					"Mcp-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": "waits",
				} {
					req.Header.Set(name, value)
				}
				if resp, err := http.DefaultClient.Do(req); err == nil {
					resp.Body.Close()
				}
			}()
			<-s.began
			hangUp()
			<-gone
			require.ErrorIs(t, <-s.ended, tc.why)
		})
	}
}

// TestPanicOfAnExtension checks that a panic outside of the registry does not end
// the process.
func TestPanicOfAnExtension(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	s.opts.Extend = func(server *sdk.Server) {
		tool(server, "breaks", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { panic("a secret") })
	}
	session := connect(t, serve(t, s.Registry, s.opts), reader, nil)
	_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "breaks"})
	require.NotContains(t, refused(t, err, jsonrpc.CodeInternalError).Message, "secret")
	_, err = session.ListTools(t.Context(), nil)
	require.NoError(t, err)
}

// TestRevisions shows which revisions a client can choose.
func TestRevisions(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)
	for asked, given := range map[string]string{
		"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2000-01-01": "2025-11-25",
	} {
		got := post(t, address, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+
			`","capabilities":{},"clientInfo":{"name":"tests","version":"1"}}}`, func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") })
		require.Contains(t, got.body, `"protocolVersion":"`+given+`"`)
		require.Contains(t, got.body, `"capabilities":{"completions":{},"prompts":{},"resources":{},"tools":{}}`)
	}
}
