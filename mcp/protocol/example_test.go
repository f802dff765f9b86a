package protocol_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A program serves a function of its own to agents. Here the agent is the
// official Go client.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err = mcp.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	registry, err := mcp.New(ctx, db, nil)
	if err != nil {
		log.Fatal(err)
	}
	type receipt struct {
		Number string `json:"number" doc:"The number on the receipt."`
	}
	type state struct {
		Shipped bool `json:"shipped"`
	}
	if err = mcp.Register(registry, mcp.Function[receipt, state]{
		Name: "order_state", Description: "Says whether an order has left.", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in receipt) (state, error) { return state{in.Number == "A-7"}, nil },
	}); err != nil {
		log.Fatal(err)
	}

	handler, err := protocol.New(registry, &protocol.Options{
		BaseURL: "http://localhost:8080",
		Authenticate: func(_ context.Context, token string) (mcp.Caller, error) {
			if token != "of-an-agent" {
				return mcp.Caller{}, &mcp.Error{Code: "unauthorized", Message: "the token is not valid"}
			}
			return mcp.Caller{Account: mcp.OneAccount, User: "agent", May: func(string) bool { return true }}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(protocol.Path, handler)
	mux.Handle(protocol.MetadataPath, handler.Metadata())
	server := httptest.NewServer(mux)
	defer server.Close()

	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: server.URL + protocol.Path, HTTPClient: &http.Client{Transport: withToken("of-an-agent")},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "order_state", Arguments: map[string]any{"number": "A-7"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*sdk.TextContent).Text)
	// Output: {"shipped":true}
}
