package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A tool of a foreign server is looked at, approved as it is, and called.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	shop := httptest.NewServer(sdk.NewStreamableHTTPHandler(foreignShop, nil)) // of another organization
	defer shop.Close()

	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	servers, err := remote.New(ctx, db, &remote.Options{Allow: []string{"127.0.0.1"}})
	check(err)
	stopped := make(chan error)
	go func() { stopped <- servers.Run(ctx) }()

	acc := servers.For(remote.OneAccount)
	server, err := acc.Create(ctx, remote.NewServer{Name: "shop", URL: shop.URL})
	check(err)
	server, err = acc.Refresh(ctx, server.ID)
	check(err)
	stock := server.Tools[0]
	fmt.Println(stock.Name, stock.Description, stock.Hints.ReadOnly)
	_, err = acc.Call(ctx, remote.Call{Server: "shop", Tool: "stock"})
	fmt.Println(err)

	_, err = acc.Update(ctx, server.ID, remote.Change{Approve: []remote.Approval{{Name: stock.Name, Hash: stock.Hash}}})
	check(err)
	result, err := acc.Call(ctx, remote.Call{Server: "shop", Tool: "stock", Arguments: []byte(`{"article": "A-7"}`)})
	check(err)
	fmt.Println(string(result.Value))
	stop()
	check(<-stopped)
	// Output:
	// stock Says how many are left. true
	// mcp.tool_error: The tool is not approved.
	// {"pieces":12}
}

// foreignShop returns a server with one tool.
func foreignShop(*http.Request) *sdk.Server {
	type asked struct {
		Article string `json:"article"`
	}
	type stock struct {
		Pieces int `json:"pieces"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "stock", Description: "Says how many are left.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *sdk.CallToolRequest, asked) (*sdk.CallToolResult, stock, error) {
			return nil, stock{12}, nil
		})
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
