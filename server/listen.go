package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// How long a drain takes at most: requests first, because they wait for the
// workers, then the workers.
const (
	drainRequests = 8 * time.Second
	drainAll      = 19 * time.Second // the promise is 20
)

// Listeners say where [Server.Serve] listens.
type Listeners struct {
	// Main takes the requests. Required; it is closed in the end.
	Main net.Listener
	// Certificate makes Main speak TLS. nil: plain HTTP.
	Certificate *Certificate
	// Metrics serves /metrics. nil: it is not served.
	Metrics net.Listener
	// Ready is called once requests are answered. nil: nothing is.
	Ready func()
}

// ListenAndServe is [Server.Serve] for plain HTTP on one address.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return s.Serve(ctx, Listeners{Main: ln})
}

// Serve runs the workers and answers requests until ctx ends or one of them
// fails. Then it drains: it takes no further connection, finishes the requests
// in hand, and lets the workers finish or hand back their work, all within 20
// seconds. What is not finished then is taken up by the next process, and is
// no error.
func (s *Server) Serve(ctx context.Context, l Listeners) error {
	servers := []*http.Server{s.httpServer(s, l.Certificate)}
	listeners := []net.Listener{l.Main}
	if l.Metrics != nil {
		servers = append(servers, s.httpServer(s.MetricsHandler(), nil))
		listeners = append(listeners, l.Metrics)
	}
	// Requests and workers outlive ctx: it says when to begin to stop.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	failed := make(chan error, len(servers)+1)
	for i, srv := range servers {
		go func() { failed <- serve(srv, watchedListener{listeners[i], s.probe.files}) }()
	}
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if err := s.Run(work); err != nil {
			failed <- err
		}
	}()
	if l.Ready != nil {
		l.Ready()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.stop(servers, stopWork, worked)
	return err
}

// httpServer has no limit on how long a handler takes: bodies are paced, and
// streams last.
func (s *Server) httpServer(h http.Handler, cert *Certificate) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // clients that speak no HTTP
	}
	if cert != nil {
		srv.TLSConfig = &tls.Config{GetCertificate: cert.Get, MinVersion: tls.VersionTLS12}
	}
	return srv
}

func serve(srv *http.Server, ln net.Listener) error {
	var err error
	if srv.TLSConfig != nil {
		err = srv.ServeTLS(ln, "", "")
	} else {
		err = srv.Serve(ln)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("server: %w", err)
}

// stop drains.
func (s *Server) stop(servers []*http.Server, stopWork func(), worked <-chan struct{}) {
	start := time.Now()
	s.log.InfoContext(context.Background(), "draining")
	s.drain()
	ctx, cancel := context.WithTimeout(context.Background(), drainRequests)
	defer cancel()
	for _, srv := range servers {
		if err := srv.Shutdown(ctx); err != nil {
			s.log.WarnContext(ctx, "requests were cut off", slog.Any("error", err))
			_ = srv.Close()
		}
	}
	stopWork()
	left := time.NewTimer(drainAll - time.Since(start))
	defer left.Stop()
	select {
	case <-worked:
		s.log.InfoContext(context.Background(), "drained", slog.Duration("took", time.Since(start)))
	case <-left.C:
		s.log.WarnContext(context.Background(), "workers did not finish in time; their work will be taken up again")
	}
}

// MetricsHandler serves [Server.Metrics] at /metrics. It belongs on an address
// of its own: the main one never serves it.
func (s *Server) MetricsHandler() http.Handler {
	m := http.NewServeMux()
	m.Handle("GET /metrics", promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{
		Registry: s.Metrics, ErrorHandling: promhttp.ContinueOnError, // a database that is out of reach must not hide the rest
	}))
	return m
}
