package remote_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// TestCall registers a server, approves its tools and calls them, with both
// protocols: numbers and arguments arrive unchanged.
func TestCall(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		for wire := range wires {
			srv := serve(t, wire)
			srv.tool("stock", "How many there are.", `{"type":"object","properties":{"sku":{"type":"integer"}},"required":["sku"],"additionalProperties":false}`,
				&sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()}, func(_ context.Context, args json.RawMessage) (*sdk.CallToolResult, error) {
					return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(args)}}, StructuredContent: json.RawMessage(`{"count":9007199254740993,"rate":1.10}`)}, nil
				})
			srv.tool("hello", "Greets.", object, nil, says("Hello"))
			srv.tool("list", "Structured alone.", object, nil, func(context.Context, json.RawMessage) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: json.RawMessage(`[1,"two"]`)}, nil
			})
			f := setup(t, db, remote.Options{})
			require.NoError(t, f.DeleteAll(t.Context()))
			s := f.register(t, srv.URL)
			require.Empty(t, s.Tools)
			require.True(t, s.CheckedAt.IsZero())
			_, err := f.call(t, "hello", "")
			refused(t, err, remote.CodeTool)

			s, err = f.Refresh(t.Context(), s.ID)
			require.NoError(t, err)
			require.Len(t, s.Tools, 3)
			require.False(t, s.CheckedAt.IsZero())
			_, err = f.call(t, "hello", "")
			require.Equal(t, "The tool is not approved.", refused(t, err, remote.CodeTool))

			s = f.approve(t, s.ID)
			for _, x := range s.Tools {
				require.True(t, x.Approved)
				require.Len(t, x.Hash, 64)
			}
			out, err := f.call(t, "stock", `{"sku":9007199254740993}`)
			require.NoError(t, err)
			require.JSONEq(t, `{"sku":9007199254740993}`, out.Text)
			require.Equal(t, `{"count":9007199254740993,"rate":1.10}`, string(out.JSON()))
			out, err = f.call(t, "hello", "")
			require.NoError(t, err)
			require.Equal(t, remote.Result{Text: "Hello"}, out)
			require.Equal(t, `"Hello"`, string(out.JSON()))
			out, err = f.call(t, "list", "{}")
			require.NoError(t, err)
			require.Equal(t, `[1,"two"]`, string(out.JSON()))
			require.Equal(t, `[1,"two"]`, out.Text)

			require.True(t, f.Repeatable(t.Context(), "shop", "stock"))
			require.False(t, f.Repeatable(t.Context(), "shop", "hello"))
			require.False(t, f.Repeatable(t.Context(), "shop", "gone"))
			known, err := f.Known(t.Context(), db)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"stock", "hello", "list"}, known["shop"])
			_, err = f.For("other").Call(t.Context(), remote.Call{Server: "shop", Tool: "hello"})
			require.Equal(t, "There is no MCP server with this name.", refused(t, err, remote.CodeConnect))
		}
	})
}

// TestWhatIsSent checks every request: none has a token of this program, all have
// the credential, and a call has its key.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	for wire := range wires {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, wire)
			srv.tool("hello", "Greets.", object, nil, says("Hello"))
			const credential = "01890a5d-ac96-774b-bcce-b302099a8057"
			f := sqlite(t, remote.Options{Authorize: func(_ context.Context, account, id string, r *http.Request) error {
				r.Header.Set("X-Key", account+"/"+id)
				return nil
			}})
			s := f.approved(t, srv.URL)
			_, err := f.call(t, "hello", "{}")
			require.NoError(t, err)
			keys := 0
			for _, h := range srv.seen() {
				require.Empty(t, h.Get("Authorization"))
				require.Empty(t, h.Get("Cookie"))
				require.Empty(t, h.Get("X-Key"))
				require.Equal(t, "1", h.Get(remote.DepthHeader))
				require.Equal(t, "Trunkline", h.Get("User-Agent"))
				if h.Get("Idempotency-Key") == "run.1" {
					keys++
				}
			}
			require.Equal(t, 1, keys)
			last := srv.seen()[len(srv.seen())-1]
			require.Equal(t, wire, last.Get("Mcp-Protocol-Version"))

			before := len(srv.seen())
			id := credential
			_, err = f.Update(t.Context(), s.ID, remote.Change{Credential: &id})
			require.NoError(t, err)
			_, err = f.call(t, "hello", "{}")
			require.NoError(t, err)
			sent := 0
			for _, h := range srv.seen()[before:] {
				if h.Get("X-Key") == "acme/"+credential {
					sent++
				}
			}
			require.GreaterOrEqual(t, sent, 2)
			tools, err := f.Tools(t.Context(), []string{"shop"})
			require.NoError(t, err)
			require.True(t, tools[0].Private)
		})
	}
}

// TestTools checks the approved tools for models: they have valid names, and
// missing hints mean the worst.
func TestTools(t *testing.T) {
	t.Parallel()
	srv := serve(t, "2026-07-28")
	long := strings.Repeat("long_", 20)
	srv.tool("read", "Reads.", object, &sdk.ToolAnnotations{ReadOnlyHint: true}, says("1"))
	srv.tool("put", "Puts.", object, &sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: no(), OpenWorldHint: no()}, says("2"))
	srv.tool("write", "Writes.", object, nil, func(context.Context, json.RawMessage) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "there are none left"}}}, nil
	})
	srv.tool("a.b", "Dotted.", object, &sdk.ToolAnnotations{DestructiveHint: yes()}, says("4"))
	srv.tool("a_b", "Not dotted.", object, nil, says("5"))
	srv.tool(long, "Long.", object, nil, says("6"))
	f := sqlite(t, remote.Options{})
	s := f.approved(t, srv.URL)
	_, err := f.Update(t.Context(), s.ID, remote.Change{Approve: []remote.Approval{{Name: "a_b", Withdraw: true}}})
	require.NoError(t, err)
	tools, err := f.Tools(t.Context(), []string{"shop", "shop"})
	require.NoError(t, err)
	byOrigin := map[string]llm.Tool{}
	for _, x := range tools {
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, x.Name)
		require.True(t, x.Untrusted)
		require.False(t, x.Private)
		require.JSONEq(t, object, string(x.Schema))
		byOrigin[x.Origin] = x
	}
	require.Len(t, byOrigin, 5)
	flags := func(x llm.Tool) [4]bool { return [4]bool{x.ReadOnly, x.Idempotent, x.Destructive, x.OpenWorld} }
	require.Equal(t, [4]bool{true, true, false, true}, flags(byOrigin["shop/read"]))
	require.Equal(t, [4]bool{false, true, false, false}, flags(byOrigin["shop/put"]))
	require.Equal(t, [4]bool{false, false, true, true}, flags(byOrigin["shop/write"]))
	require.Equal(t, "shop__read", byOrigin["shop/read"].Name)
	require.Regexp(t, `^shop__a_b_[0-9a-f]{8}$`, byOrigin["shop/a.b"].Name)
	require.Regexp(t, `^shop__long_.*_[0-9a-f]{8}$`, byOrigin["shop/"+long].Name)

	out, err := byOrigin["shop/read"].Call(t.Context(), llm.ToolRun{Arguments: json.RawMessage(`{}`), Key: "k"})
	require.NoError(t, err)
	require.Equal(t, llm.ToolOutput{Content: "1"}, out)
	out, err = byOrigin["shop/write"].Call(t.Context(), llm.ToolRun{Arguments: json.RawMessage(`{}`), Key: "k"})
	require.NoError(t, err)
	require.Equal(t, llm.ToolOutput{Content: "there are none left", IsError: true}, out)
	_, err = byOrigin["shop/read"].Call(t.Context(), llm.ToolRun{Arguments: json.RawMessage(`[]`)})
	var readable *llm.ToolError
	require.ErrorAs(t, err, &readable)
	require.Equal(t, string(remote.CodeArguments), readable.Code)

	_, err = f.Tools(t.Context(), []string{"shop", "gone"})
	require.Equal(t, `There is no MCP server "gone".`, refused(t, err, remote.CodeConnect))
	_, err = f.Update(t.Context(), s.ID, remote.Change{Enabled: no()})
	require.NoError(t, err)
	_, err = f.Tools(t.Context(), []string{"shop"})
	refused(t, err, remote.CodeConnect)
	_, err = f.call(t, "read", "")
	require.Equal(t, "The MCP server is switched off.", refused(t, err, remote.CodeConnect))
}

// TestArguments checks that invalid arguments are refused, by the client or by the
// server.
func TestArguments(t *testing.T) {
	t.Parallel()
	srv := serve(t, "2026-07-28")
	srv.tool("strict", "", `{"type":"object","properties":{"n":{"type":"integer","maximum":3}},"required":["n"]}`, nil, says("fine"))
	srv.tool("foreign", "", `{"type":"object","$ref":"https://schemas.example.org/x.json"}`, nil, says("fine"))
	f := sqlite(t, remote.Options{})
	f.approved(t, srv.URL)
	for _, args := range []string{``, `{}`, `{"n":4}`, `{"n":"x"}`, `null`, `[1]`, `{`} {
		before := srv.requests.Load()
		_, err := f.call(t, "strict", args)
		require.NotEmpty(t, refused(t, err, remote.CodeArguments), args)
		require.Equal(t, before, srv.requests.Load(), "nobody was asked")
	}
	out, err := f.call(t, "strict", `{"n":3}`)
	require.NoError(t, err)
	require.Equal(t, "fine", out.Text)
	out, err = f.call(t, "foreign", `{"n":3}`)
	require.NoError(t, err, "nothing is fetched, the server decides")
	require.Equal(t, "fine", out.Text)
	_, err = f.call(t, "absent", `{}`)
	require.Equal(t, "The MCP server has no tool with this name.", refused(t, err, remote.CodeTool))
}
