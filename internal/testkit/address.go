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

// ownPorts is the number of ports for [FreeAddress], which tries one after the
// other. Each test binary begins with a different one.
const ownPorts = 10_000

var (
	firstPort = rand.Int64N(ownPorts)
	nextPort  atomic.Int64
)

// FreeAddress returns an address of this machine on which nothing listens. It does
// not return the same address twice in a test binary. The port is outside of the
// range for outgoing connections, so that none of these can take it before the
// program that is to listen on it.
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
	}, time.Minute, 10*time.Millisecond, "nothing listens at %s", addr)
}
