package mcp_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/sqldb"
)

// stocked is what in_stock is asked.
type stocked struct {
	Article string `json:"article" doc:"Number of the article." maxLength:"20"`
	Size    string `json:"size" enum:"s,m,l" default:"m"`
}

type stock struct {
	Pieces int `json:"pieces"`
}

// A function has typed arguments and a typed result; all else is the
// registry's work.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mcp")
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "example.db"))
	check(err)
	defer db.Close() //nolint:errcheck // the program ends
	check(mcp.Migrate(ctx, db))

	r, err := mcp.New(ctx, db, &mcp.Options{Limit: 3})
	check(err)
	check(mcp.Register(r, mcp.Function[stocked, stock]{
		Name: "in_stock", Description: "Says how many pieces of an article there are.", Permission: "stock.read", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in stocked) (stock, error) {
			if in.Article != "A-7" {
				return stock{}, &mcp.Error{Code: mcp.CodeNotFound, Message: "there is no such article"}
			}
			return stock{Pieces: 12}, nil
		},
	}))

	agent := mcp.Caller{Account: mcp.OneAccount, User: "agent", May: func(permission string) bool {
		return slices.Contains([]string{mcp.PermissionExecute, "stock.read"}, permission)
	}}
	for _, arguments := range []string{`{"article":"A-7"}`, `{"article":"B-1"}`, `{"number":"A-7","size":"xl"}`, `{"article":"A-7"}`} {
		out := r.Execute(ctx, agent, mcp.Request{Function: "in_stock", Arguments: []byte(arguments)})
		if out.Success {
			fmt.Println(out.Status(), string(out.Result))
			continue
		}
		fmt.Println(out.Status(), out.Error.Code, out.Error.Details)
	}

	page, err := r.For(mcp.OneAccount).Audit(ctx, mcp.AuditFilter{Outcome: mcp.CodeRateLimited})
	check(err)
	for _, e := range page.Items {
		fmt.Println(e.User, e.Function, string(e.Arguments), e.Outcome)
	}
	// Output:
	// 200 {"pieces":12}
	// 404 not_found []
	// 422 invalid_arguments [{number is unknown} {size must be one of s, m, l} {article is missing}]
	// 429 rate_limited []
	// agent in_stock {"article":"A-7"} rate_limited
}

// A dry run makes all checks, and the function says what it would do.
func ExampleFunction_plan() {
	type order struct {
		Pieces int `json:"pieces" minimum:"1"`
	}
	r, end := exampleRegistry()
	defer end()
	check(mcp.Register(r, mcp.Function[order, struct{}]{
		Name: "order", Description: "Orders pieces.",
		Handler: func(context.Context, mcp.Call, order) (struct{}, error) {
			fmt.Println("this does not happen")
			return struct{}{}, nil
		},
		Plan: func(_ context.Context, _ mcp.Call, in order) (any, error) {
			return map[string]any{"allowed": in.Pieces <= 12, "price": 3 * in.Pieces}, nil
		},
	}))
	agent := mcp.Caller{Account: mcp.OneAccount, User: "agent", May: func(string) bool { return true }}
	out := r.Execute(context.Background(), agent, mcp.Request{Function: "order", Arguments: []byte(`{"pieces":5}`), DryRun: true})
	fmt.Println(string(out.Result))
	// Output: {"dryRun":true,"plan":{"allowed":true,"price":15}}
}

// exampleRegistry returns a registry in a temporary folder, which end removes.
func exampleRegistry() (r *mcp.Registry, end func()) {
	dir, err := os.MkdirTemp("", "mcp")
	check(err)
	db, err := sqldb.Open(context.Background(), "sqlite://"+filepath.Join(dir, "example.db"))
	check(err)
	check(mcp.Migrate(context.Background(), db))
	r, err = mcp.New(context.Background(), db, nil)
	check(err)
	return r, func() {
		check(db.Close())
		check(os.RemoveAll(dir))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
