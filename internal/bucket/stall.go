package bucket

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// stall is how long a connection may transfer nothing in the middle of a request or an
// answer. The library has no such limit of its own; it waits this long for the first
// byte of an answer.
const stall = time.Minute

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// transport returns a transport whose connections fail when they stall. dial nil means
// that of the library.
func transport(secure bool, dial dialFunc) (*http.Transport, error) {
	tr, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	if dial == nil {
		dial = tr.DialContext
	}
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{c}, nil
	}
	return tr, nil
}

// conn is a connection that fails when it stalls.
type conn struct{ net.Conn }

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write implements [net.Conn]. It extends a read that waits at the same time, for the
// answer to what is written.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
