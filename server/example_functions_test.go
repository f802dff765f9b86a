package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

// bearerClient sends a token with every request.
type bearerClient struct{ token string }

func (b bearerClient) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// A program adds functions for agents, which pass the same checks as the
// built-in ones. A client of the Model Context Protocol calls one.
func ExampleConfig_functions() {
	dir, err := os.MkdirTemp("", "trunkline")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "trunkline.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()

	type order struct {
		Number string `json:"number" doc:"The number on the receipt." maxLength:"20"`
	}
	type state struct {
		Shipped bool `json:"shipped" doc:"Whether it has left."`
	}
	secrets := []server.Secret{"at least 32 characters, kept secret"}
	orders := func(s *server.Server) error {
		return mcp.Register(s.MCP, mcp.Function[order, state]{
			Name: "order_state", Description: "Says whether an order has left.", Permission: "chats.read", ReadOnly: true,
			Handler: func(_ context.Context, _ mcp.Call, in order) (state, error) { return state{in.Number == "A-7"}, nil },
		})
	}
	s, err := server.New(ctx, server.Config{DB: db, Secrets: secrets, Functions: orders})
	if err != nil {
		log.Fatal(err)
	}
	user, err := s.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()

	client := sdk.NewClient(&sdk.Implementation{Name: "my-agent", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: web.URL + "/mcp", HTTPClient: &http.Client{Transport: bearerClient{user.Token}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "order_state", Arguments: map[string]any{"number": "A-7"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.StructuredContent)
	// Output: map[shipped:true]
}
