package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// world is a service of somebody else: an MCP server at /mcp, and elsewhere
// what says which secret it was sent.
type world struct {
	*httptest.Server
	mcp   *sdk.Server
	paths *http.ServeMux
	mu    sync.Mutex
	given []string // Authorization of each request
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{mcp: sdk.NewServer(&sdk.Implementation{Name: "world", Version: "1"}, nil)}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return w.mcp }, &sdk.StreamableHTTPOptions{Stateless: true, Logger: slog.New(slog.DiscardHandler)})
	w.paths = http.NewServeMux()
	w.paths.Handle("/mcp", h)
	w.handle("/order", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"known":%t}`, r.Header.Get("Authorization") == "Bearer "+tokenOfWorld)
	})
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.given = append(w.given, r.Header.Get("Authorization"))
		w.mu.Unlock()
		w.paths.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// handle answers at a path.
func (w *world) handle(path string, h http.HandlerFunc) { w.paths.HandleFunc(path, h) }

const tokenOfWorld = "a-token-that-nobody-else-may-see"

// tool adds a tool that answers a JSON value.
func (w *world) tool(name string, readOnly bool, answer func() string) {
	w.mcp.AddTool(&sdk.Tool{
		Name: name, Description: "Does " + name + ".", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"]}`),
	}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: json.RawMessage(answer())}, nil
	})
}

// approveAll registers the world under the name shop and approves its tools.
func (w *world) approveAll(t *testing.T, c client, credential string) (id string) {
	t.Helper()
	return c.approveTools(t, "shop", w.URL+"/mcp", credential)
}

// approveTools registers a server and approves its tools.
func (c client) approveTools(t *testing.T, name, address, credential string) (id string) {
	t.Helper()
	id = c.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":%q,"url":%q,"credential":%q}`, name, address, credential)).json(201)["id"].(string)
	s := c.call(t, "POST", "/aiflow/server/"+id+"/refresh", "").json(200)
	require.Len(t, c.audited(t, "action=server.refresh&objectId="+id), 1)
	var tools []map[string]any
	for _, x := range s["tools"].([]any) {
		tool := x.(map[string]any)
		require.Equal(t, false, tool["approved"])
		tools = append(tools, map[string]any{"name": tool["name"], "hash": tool["hash"], "approved": true})
	}
	c.call(t, "PATCH", "/aiflow/server/"+id, string(encode(t, map[string]any{"tools": tools}))).json(200)
	return id
}

const orderingByTool = `{
	"format": "trunkline-flow/1", "kind": "flow", "slug": "ordering", "name": "Ordering", "start": "begin",
	"variables": {"stock": {"type": "object"}, "order": {"type": "object"}},
	"nodes": {
		"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "look"}},
		"look": {"type": "tool", "config": {"server": "shop", "tool": "stock", "arguments": {"sku": "A1"}, "saveTo": "stock"}, "next": {"out": "order", "error": "failed"}},
		"order": {"type": "http", "config": {"method": "POST", "url": "%s/order", "auth": "%s", "saveTo": "order"}, "next": {"out": "end", "error": "failed"}},
		"end": {"type": "end", "config": {"result": {"count": "{{ vars.stock.count }}", "known": "{{ vars.order.body.known }}"}}},
		"failed": {"type": "end", "config": {"result": "{{ error.code }}"}}
	}
}`

// TestCredentialsAndServers has a flow call a tool of a foreign server and an
// address, both with a credential that is seen nowhere, and takes them away.
func TestCredentialsAndServers(t *testing.T) {
	t.Parallel()
	onDatabases(t, reachable, func(t *testing.T, f fixture) {
		w := newWorld(t)
		w.tool("stock", true, func() string { return `{"count":9007199254740993}` })
		ana := f.as(t, "ana")
		made := ana.call(t, "POST", "/aiflow/credential", fmt.Sprintf(`{"name":"Shop","kind":"bearer","secret":%q,"hosts":["127.0.0.1"]}`, tokenOfWorld)).json(201)
		credential := made["id"].(string)
		require.Equal(t, "••••-see", made["secret"])
		id := w.approveAll(t, ana, credential)
		_, publish := ana.project(t)
		flow := publish(fmt.Sprintf(orderingByTool, w.URL, credential))
		start := func() map[string]any {
			return ana.start(t, fmt.Sprintf(`{"flowId":%q}`, flow))
		}
		run := start()
		detail := ana.call(t, "GET", "/aiflow/run/"+run["id"].(string), "")
		require.Contains(t, detail.Body.String(), `"output":{"count":9007199254740993,"known":true}`)
		simulated := ana.call(t, "POST", "/aiflow/flow/"+flow+"/simulate", `{"given":{"mocks":[]}}`).Body.String()
		listed := ana.call(t, "GET", "/aiflow/credential", "").Body.String() + ana.call(t, "GET", "/aiflow/server", "").Body.String()
		for _, seen := range []string{detail.Body.String(), simulated, listed, f.log.String(), made["secret"].(string)} {
			require.NotContains(t, seen, tokenOfWorld)
		}
		w.mu.Lock()
		for _, given := range w.given {
			require.Equal(t, "Bearer "+tokenOfWorld, given)
		}
		w.mu.Unlock()

		ben := f.as(t, "ben")
		ben.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":"shop","url":"https://example.org/mcp","credential":%q}`, credential)).problem(404, "not_found")
		ana.call(t, "POST", "/aiflow/server", `{"name":"shop","url":"https://example.org/mcp"}`).problem(409, "conflict")
		ana.call(t, "PATCH", "/aiflow/server/"+id, `{"tools":[{"name":"stock","hash":"another","approved":true}]}`).problem(409, "conflict")

		ana.call(t, "DELETE", "/aiflow/credential/"+credential, "").json(200)
		require.Equal(t, "mcp.connect", start()["output"])
		require.Contains(t, ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").problem(422, "validation").Errors[0].Code, "unknown.credential")
		ana.call(t, "PATCH", "/aiflow/server/"+id, `{"credential":""}`).json(200)
		require.Equal(t, "http.credential", start()["output"])
		ana.call(t, "DELETE", "/aiflow/server/"+id, "").json(200)
		require.Equal(t, "mcp.connect", start()["output"])
		codes := []string{}
		for _, e := range ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").problem(422, "validation").Errors {
			codes = append(codes, e.Code)
		}
		require.ElementsMatch(t, []string{"unknown.credential", "unknown.server"}, codes)
	})
}

// TestUnreachableServer says why a server cannot be asked.
func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	f := setup(t, reachable)
	ana := f.as(t, "ana")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	id := ana.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":"shop","url":%q}`, gone.URL+"/secret")).json(201)["id"].(string)
	ana.call(t, "POST", "/aiflow/server/"+id+"/refresh", "{}").problem(502, "provider_error")
	require.Equal(t, "The server could not be reached, or does not support MCP at this address.", ana.call(t, "GET", "/aiflow/server/"+id, "").json(200)["problem"])
	ana.call(t, "POST", "/aiflow/server", `{"name":"other","url":"http://example.org/mcp"}`).problem(422, "validation")
}

const toolChild = "TOOL_CHILD"

// TestToolChild runs a server. It is the whole of a child process, and nothing
// in any other.
func TestToolChild(t *testing.T) {
	url := os.Getenv(toolChild)
	if url == "" {
		return
	}
	f := setupOn(t, testkit.Open(t, url), reachable)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_, _ = fmt.Println("running")
	require.NoError(t, f.Run(ctx))
}

func reachable(c *server.Config) { c.WebhookAllow, c.Exclusive = []string{"127.0.0.1"}, true }

// TestToolKilled kills a server in the middle of calls of tools: the next one
// repeats the call of a tool that only reads, and not that of one that writes.
func TestToolKilled(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t)
		var calls atomic.Int64
		started, free := make(chan struct{}, 2), make(chan struct{})
		hang := func() string {
			if calls.Add(1) <= 2 {
				started <- struct{}{}
				<-free
			}
			return `{"done":true}`
		}
		w.tool("stock", true, hang)
		w.tool("buy", false, hang)
		f := setupOn(t, testkit.Open(t, url), reachable)
		ana := f.as(t, "ana")
		w.approveAll(t, ana, "")
		_, publish := ana.project(t)
		child, _ := testkit.Child(t, "TestToolChild", "running", toolChild+"="+url)
		flows := map[string]string{}
		var wait sync.WaitGroup
		for _, tool := range []string{"stock", "buy"} {
			flows[tool] = publish(fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"X","start":"begin","nodes":{
				"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"call"}},
				"call":{"type":"tool","config":{"server":"shop","tool":%q,"arguments":{"sku":"A1"},"timeout":"PT300S"},"next":{"out":"fine","error":"lost"}},
				"fine":{"type":"end","config":{"result":"fine"}},"lost":{"type":"end","config":{"result":"{{ error.code }}"}}}}`, tool, tool))
			wait.Go(func() { ana.call(t, "POST", "/aiflow/run", fmt.Sprintf(`{"flowId":%q}`, flows[tool])) })
		}
		<-started
		<-started
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		close(free)
		wait.Wait()
		working(t, f)
		for tool, want := range map[string]string{"stock": "fine", "buy": "effect.unknown"} {
			ana.until(t, func() bool {
				runs := ana.call(t, "GET", "/aiflow/run?flowId="+flows[tool], "").json(200)["items"].([]any)
				return len(runs) == 1 && runs[0].(map[string]any)["output"] == want
			}, tool)
		}
		require.Equal(t, int64(3), calls.Load())
	})
}

// TestNested has a flow call this server as its tool: the tools that begin
// flows are refused.
func TestNested(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	_, publish := ana.project(t)
	flow := publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"b","nodes":{"b":{"type":"trigger","config":{"on":[{"kind":"api"}]}}}}`)
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	call := func(depth string) *sdk.CallToolResult {
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL + "/mcp", HTTPClient: &http.Client{Transport: headers{
			"Authorization": "Bearer " + ana.token, "Trunkline-Depth": depth,
		}}}, nil)
		require.NoError(t, err)
		defer func() { _ = cs.Close() }()
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_flow", Arguments: map[string]any{"flowId": flow}})
		require.NoError(t, err)
		return res
	}
	stop := atWork(t, f)
	defer stop()
	require.False(t, call("").IsError)
	res := call("1")
	require.True(t, res.IsError)
	text, err := json.Marshal(res)
	require.NoError(t, err)
	require.Contains(t, string(text), "cannot start another flow")
}

// headers adds headers to requests; empty ones are left out.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, v := range h {
		if v != "" {
			r.Header.Set(name, v)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// listening adds a tool with hints of its own that tells what it is given.
func (w *world) listening(name string, hints *sdk.ToolAnnotations, published func(arguments string)) {
	w.mcp.AddTool(&sdk.Tool{
		Name: name, Description: "Does " + name + ".", Annotations: hints,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"]}`),
	}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		published(string(r.Params.Arguments))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ok"}}}, nil
	})
}
