package protocol_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// Tokens that the test servers accept.
const (
	everything = "may-do-everything"
	reader     = "may-only-read"
	stranger   = "has-no-right"
	broken     = "finds-the-database-gone"
)

// permissions are the permissions of a token's user.
var permissions = map[string]func(string) bool{
	everything:    func(string) bool { return true },
	"may-nothing": func(string) bool { return false },
	reader:        func(p string) bool { return p == mcp.PermissionExecute || p == "orders.read" },
}

func authenticate(_ context.Context, token string) (mcp.Caller, error) {
	switch token {
	case stranger:
		return mcp.Caller{}, &mcp.Error{Code: mcp.CodeForbidden, Message: "the permission mcp.execute is required"}
	case broken:
		return mcp.Caller{}, context.DeadlineExceeded
	}
	may, ok := permissions[token]
	if !ok {
		return mcp.Caller{}, &mcp.Error{Code: "unauthorized", Message: "the token is not valid"}
	}
	return mcp.Caller{Account: mcp.OneAccount, User: token, Token: token, May: may}, nil
}

// registry returns a registry with its own database.
func registry(t testing.TB, opts *mcp.Options) *mcp.Registry {
	t.Helper()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, mcp.Migrate(t.Context(), db))
	r, err := mcp.New(t.Context(), db, opts)
	require.NoError(t, err)
	return r
}

// serve starts a server of the registry's functions and returns its address.
func serve(t testing.TB, r *mcp.Registry, opts protocol.Options) string {
	t.Helper()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	if opts.BaseURL == "" {
		opts.BaseURL = srv.URL
	}
	if opts.Authenticate == nil {
		opts.Authenticate = authenticate
	}
	h, err := protocol.New(r, &opts)
	require.NoError(t, err)
	mux.Handle(protocol.Path, h)
	mux.Handle(protocol.MetadataPath, h.Metadata())
	return srv.URL
}
