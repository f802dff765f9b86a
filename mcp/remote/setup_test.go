package remote_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

const patient = 40 * time.Second // longest wait of a test

// fixture is a service under test, and one of its accounts.
type fixture struct {
	*remote.Service
	*remote.Account
	db  *sqlx.DB
	log *logged
}

// logged keeps what was logged.
type logged struct {
	mu   sync.Mutex
	text []byte
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// setup returns a service that may reach this machine and runs until the test ends.
func setup(t *testing.T, db *sqlx.DB, opts remote.Options) *fixture {
	t.Helper()
	require.NoError(t, remote.Migrate(t.Context(), db))
	f := &fixture{db: db, log: &logged{}}
	if opts.Allow == nil {
		opts.Allow = []string{"127.0.0.1"}
	}
	opts.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	var err error
	f.Service, err = remote.New(t.Context(), db, &opts)
	require.NoError(t, err)
	f.Account = f.For("acme")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return f
}

func sqlite(t *testing.T, opts remote.Options) *fixture {
	t.Helper()
	return setup(t, testkit.Open(t, testkit.SQLiteURL(t)), opts)
}

// foreign is a foreign server of the official SDK whose handler counts requests and
// can be replaced.
type foreign struct {
	*sdk.Server
	URL      string
	hangUp   func() // closes the connections that are open
	requests atomic.Int64
	mu       sync.Mutex
	handler  http.HandlerFunc // nil: open
	headers  []http.Header
}

// wires are the two forms of the protocol: with sessions, and without.
var wires = map[string]*sdk.StreamableHTTPOptions{
	"2025-11-25": {},
	"2026-07-28": {Stateless: true},
}

func serve(t *testing.T, wire string) *foreign {
	t.Helper()
	f := &foreign{Server: sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)}
	opts := *wires[wire]
	opts.Logger = slog.New(slog.DiscardHandler)
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return f.Server }, &opts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		f.mu.Lock()
		handler := f.handler
		f.headers = append(f.headers, r.Header.Clone())
		f.mu.Unlock()
		if handler != nil {
			handler(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	f.URL, f.hangUp = srv.URL+"/mcp", srv.CloseClientConnections
	return f
}

// shut replaces the handler of all requests; nil: the server answers again.
func (f *foreign) shut(handler http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = handler
}

func (f *foreign) seen() []http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]http.Header{}, f.headers...)
}

type handler = func(ctx context.Context, args json.RawMessage) (*sdk.CallToolResult, error)

// tool adds or replaces a tool.
func (f *foreign) tool(name, description, schema string, a *sdk.ToolAnnotations, h handler) {
	f.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema), Annotations: a},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return h(ctx, r.Params.Arguments)
		})
}

const object = `{"type":"object"}`

// says returns a tool that answers a text.
func says(text string) handler {
	return func(context.Context, json.RawMessage) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// register registers a server under the name shop.
func (f *fixture) register(t *testing.T, url string) remote.Server {
	t.Helper()
	s, err := f.Create(t.Context(), remote.NewServer{Name: "shop", URL: url})
	require.NoError(t, err)
	return s
}

// approved registers a server and approves all its tools.
func (f *fixture) approved(t *testing.T, url string) remote.Server {
	t.Helper()
	return f.approve(t, f.register(t, url).ID)
}

func (f *fixture) approve(t *testing.T, id string) remote.Server {
	t.Helper()
	s, err := f.Refresh(t.Context(), id)
	require.NoError(t, err)
	var c remote.Change
	for _, x := range s.Tools {
		c.Approve = append(c.Approve, remote.Approval{Name: x.Name, Hash: x.Hash})
	}
	s, err = f.Update(t.Context(), id, c)
	require.NoError(t, err)
	return s
}

// call calls a tool of the server shop.
func (f *fixture) call(t *testing.T, tool, args string) (remote.Result, error) {
	t.Helper()
	return f.Call(t.Context(), remote.Call{Server: "shop", Tool: tool, Arguments: json.RawMessage(args), Key: "run.1"})
}

// refused requires an error with a code, and returns its message.
func refused(t *testing.T, err error, code remote.Code) string {
	t.Helper()
	var e *remote.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	return e.Message
}

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }
