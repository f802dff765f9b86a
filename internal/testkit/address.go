package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// FreeAddress is an address of this machine that nobody listens on. It is
// outside of the ports that connections take, so that none of them is there
// before the program that is told to listen on it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		if ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr); err == nil {
			require.NoError(t, ln.Close())
			return addr
		}
	}
	require.Fail(t, "no port is free")
	return ""
}
