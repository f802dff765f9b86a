package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
)

// TestAgentConnection shows what needs a connection, through everything that
// is before the protocol: news of a call arrive while it runs, and a
// client of the newest revision that goes away ends it.
func TestAgentConnection(t *testing.T) {
	t.Parallel()
	seen, ended := make(chan struct{}), make(chan error, 1)
	f := setup(t, func(c *server.Config) {
		c.Functions = func(s *server.Server) error {
			type none struct{}
			return mcp.Register(s.MCP, mcp.Function[none, none]{
				Name: "test_waits", Description: "Waits for its caller.", Timeout: time.Minute,
				Handler: func(ctx context.Context, c mcp.Call, _ none) (none, error) {
					c.Progress(1, 2, "waiting")
					select {
					case <-seen:
						return none{}, nil
					case <-ctx.Done():
						ended <- context.Cause(ctx)
						return none{}, ctx.Err()
					}
				},
			})
		}
	})
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	progress := make(chan float64, 2)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { progress <- req.Params.Progress },
	}).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: web.URL + "/mcp", HTTPClient: &http.Client{Transport: bearerClient{f.as(t, "ana").token}},
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	call := func(ctx context.Context) error {
		params := &sdk.CallToolParams{Name: "test_waits"}
		params.SetProgressToken("mine")
		_, err := session.CallTool(ctx, params)
		return err
	}

	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { gone <- call(ctx) }()
	require.InDelta(t, 1, <-progress, 0)
	hangUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)

	go func() {
		<-progress
		close(seen) // only then there is a result
	}()
	require.NoError(t, call(t.Context()))
}
