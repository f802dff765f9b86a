package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestReason shows nothing of the network that the server is in: neither
// the address that a name has there nor who resolves it.
func TestReason(t *testing.T) {
	t.Parallel()
	inside := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 3), Port: 8123}
	dial := func(err error) error {
		return &url.Error{Op: "Get", URL: "http://hooks.internal/?token=s3cret", Err: &net.OpError{Op: "dial", Net: "tcp", Source: inside, Addr: inside, Err: err}}
	}
	errno := func(n syscall.Errno) error { return dial(os.NewSyscallError("connect", n)) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{errno(syscall.ECONNREFUSED), "the connection was refused"},
		{errno(syscall.ECONNRESET), "the connection was closed by the other side"},
		{errno(syscall.EHOSTUNREACH), "the host cannot be reached"},
		{errno(syscall.ENETUNREACH), "the host cannot be reached"},
		{errno(syscall.ETIMEDOUT), "there was no answer in time"},
		{errno(syscall.EADDRNOTAVAIL), "the connection failed"},
		{dial(&net.DNSError{Err: "no such host", Name: "x.internal", Server: "127.0.0.11:53", IsNotFound: true}), "the host was not found"},
		{dial(&net.DNSError{Err: "server misbehaving", Name: "x.internal", Server: "127.0.0.11:53", IsTemporary: true}), "the name of the host could not be looked up"},
		{dial(&net.DNSError{Err: "i/o timeout", Name: "x.internal", Server: "127.0.0.11:53", IsTimeout: true}), "there was no answer in time"},
		{dial(context.DeadlineExceeded), "there was no answer in time"},
		{dial(context.Canceled), "the request was interrupted"},
		{dial(io.EOF), "the connection was closed without an answer"},
		{dial(errors.New("socks connect tcp 10.0.0.3:1080->x: general SOCKS server failure")), "the connection failed"},
		{dial(fmt.Errorf("%w: 10.0.0.3", guard.ErrRefused)), "private address refused: the target is private, loopback, link-local or reserved: allow it with --webhook-allow"},
		{errors.New("net/http: HTTP/1.x transport connection broken: malformed HTTP response \"10.0.0.3 s3cret\""), "the answer is no HTTP"},
		{errors.New("net/http: HTTP/1.x transport connection broken: malformed MIME header: s3cret"), "the answer is no HTTP"},
	} {
		require.Equal(t, c.want, guard.Reason(c.err), c.err)
	}
}

// TestReasonOfRequests asks for what real connections fail with.
func TestReasonOfRequests(t *testing.T) {
	t.Parallel()
	g, err := guard.New([]string{"127.0.0.1"})
	require.NoError(t, err)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for address, want := range map[string]string{
		"http://" + testkit.FreeAddress(t) + "/": "the connection was refused",
		"https" + plain.URL[len("http"):] + "/":  "the host does not speak TLS as it should",
		secure.URL + "/":                         "the certificate is signed by an unknown authority",
		"http://loop.test:1/":                    "the connection was refused",
		"http://meta.test/":                      "private address refused: the target is private, loopback, link-local or reserved: allow it with --webhook-allow",
		"http://absent.test/":                    "the host was not found",
	} {
		err := get(t, g, address)
		require.Error(t, err, address)
		require.Equal(t, want, guard.Reason(err), address)
	}
}
