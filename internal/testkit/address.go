package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ownPorts is how many ports there are for [FreeAddress], which looks at one
// after the other, in each test binary from another one on.
const ownPorts = 10_000

var (
	firstPort = rand.Int64N(ownPorts)
	nextPort  atomic.Int64
)

// FreeAddress is an address of this machine on which nothing listens, and that
// no other test of this binary is given. It is outside of the ports that
// connections take, so that none of them is there before the program that is
// told to listen on it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 20_000+(firstPort+nextPort.Add(1))%ownPorts)
		if ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr); err == nil {
			require.NoError(t, ln.Close())
			return addr
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

// AwaitListener waits until a program listens at an address.
func AwaitListener(t testing.TB, addr string) {
	t.Helper()
	require.Eventually(t, func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, "nobody listens at %s", addr)
}
