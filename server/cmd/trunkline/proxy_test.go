package main_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy is between a server and its PostgreSQL.
type proxy struct {
	url string

	hung sync.RWMutex // locked while nothing passes and no connection ends

	mu     sync.Mutex
	socket string        // of the server to which new connections lead
	silent chan struct{} // closed: connections of before pass nothing, and do not end
}

const socketName = ".s.PGSQL.5432"

// startProxy starts a proxy to the server of a URL that names a Unix socket.
func startProxy(t *testing.T, database string) *proxy {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	query := u.Query()
	dir := t.TempDir()
	p := &proxy{socket: filepath.Join(query.Get("host"), socketName), silent: make(chan struct{})}
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	p.url = u.String()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, socketName))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p
}

// lead leads new connections to another server. Those of before go on.
func (p *proxy) lead(socket string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.socket = socket
}

// silence lets connections of before pass nothing any more. They do not end.
func (p *proxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.silent)
	p.silent = make(chan struct{})
}

func (p *proxy) pass(c net.Conn) {
	defer c.Close() //nolint:errcheck // a test's
	p.mu.Lock()
	socket, silent := p.socket, p.silent
	p.mu.Unlock()
	d, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return
	}
	defer d.Close() //nolint:errcheck // as above
	go func() {
		p.copy(d, c, silent)
		_ = d.Close()
	}()
	p.copy(c, d, silent)
}

// copy copies until from ends. It goes on reading when the connection is silent, as
// a system does that acknowledges for a process that hangs.
func (p *proxy) copy(to io.Writer, from io.Reader, silent <-chan struct{}) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		select {
		case <-silent:
			if err != nil {
				return
			}
			continue
		default:
		}
		p.hung.RLock()
		_, failed := to.Write(b[:n])
		p.hung.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}
