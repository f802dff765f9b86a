package webtest

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Proxy is an HTTP proxy that connects every host to the server. A client that
// uses it needs the server's certificate, but not its address.
type Proxy struct {
	// URL is the address of the proxy.
	URL string

	s        *Server
	http     *http.Server
	mu       sync.Mutex
	requests []ProxyRequest
}

// ProxyRequest is a connection that a [Proxy] was asked for.
type ProxyRequest struct {
	Host string // and port
	Auth string // the header Proxy-Authorization
}

// StartProxy returns a proxy on a loopback port. It panics when it cannot
// listen.
func (s *Server) StartProxy() *Proxy {
	listener, err := new(net.ListenConfig).Listen(s.over, "tcp", "127.0.0.1:0")
	if err != nil {
		panic("webtest: " + err.Error())
	}
	p := &Proxy{s: s, URL: "http://" + listener.Addr().String()}
	p.http = &http.Server{Handler: http.HandlerFunc(p.connect), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.http.Serve(listener) }()
	return p
}

// Close stops the proxy. Its connections stay open.
func (p *Proxy) Close() { _ = p.http.Close() }

// Requests returns the requested connections in order.
func (p *Proxy) Requests() []ProxyRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	p.requests = append(p.requests, ProxyRequest{Host: r.Host, Auth: r.Header.Get("Proxy-Authorization")})
	p.mu.Unlock()
	there, err := new(net.Dialer).DialContext(r.Context(), "tcp", p.s.Addr())
	if err != nil {
		http.Error(w, "the fake is gone", http.StatusBadGateway)
		return
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.s.log.ErrorContext(r.Context(), "the proxy cannot take a connection over", slog.Any("error", err))
		_ = there.Close()
		return
	}
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err == nil {
		tunnel(p.s.over, here, buffered, there)
	}
}

// tunnel copies in both directions until one end closes, or ctx ends.
func tunnel(ctx context.Context, here net.Conn, from io.Reader, there net.Conn) {
	end := func() { _ = here.Close(); _ = there.Close() }
	stop := context.AfterFunc(ctx, end)
	defer stop()
	go func() {
		defer end()
		_, _ = io.Copy(there, from)
	}()
	defer end()
	_, _ = io.Copy(here, there)
}
