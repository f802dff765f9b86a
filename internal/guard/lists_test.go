package guard_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
)

// TestLists says of URLs whether the list names them, as they are written.
func TestLists(t *testing.T) {
	t.Parallel()
	g, err := guard.New([]string{"10.0.0.0/8", "127.0.0.1:8080", "hooks.internal", "tools.internal:90", "fd00::/8"})
	require.NoError(t, err)
	for address, want := range map[string]bool{
		"http://10.1.2.3/x": true, "http://10.1.2.3:99": true, "http://[fd00::1]/": true, "http://0xa010203/": true,
		"http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://HOOKS.internal.:7": true, "https://tools.internal:90/": true,
		"http://127.0.0.1": false, "http://localhost": false, "http://tools.internal": false, "http://example.org": false,
		"http://11.1.2.3": false, "http:///x": false, "http://hooks.internal.example.org": false, "http://10.1.2.3:99999": false,
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, g.Lists(u), address)
	}
}
