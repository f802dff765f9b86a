package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	probePath    = "/probe"
	probeFresh   = time.Second // how long a successful write answers for
	probeTimeout = 3 * time.Second
)

// probe remembers the last write, so that asking often costs nothing.
type probe struct {
	mu    sync.Mutex
	wrote time.Time
}

type probeView struct {
	Status   string `json:"status" enum:"ok"`
	Version  string `json:"version"`
	Database string `json:"database" enum:"sqlite,postgres"`
	Uptime   int64  `json:"uptime" doc:"Seconds since the start"`
}

func (s *Server) probeRoutes(a *api) {
	register(a, operation{
		id: "Server_Probe", method: http.MethodGet, path: probePath, summary: "Whether the server works",
		about:  "Answers 503 when the store cannot be written, or when the server is about to stop.",
		errors: []int{http.StatusServiceUnavailable},
	}, anyone, s.serveProbe)
}

func (s *Server) serveProbe(ctx context.Context, _ call, _ *struct{}) (probeView, error) {
	select {
	case <-s.stopping:
		return probeView{}, problem(codeUnavailable, "the server is about to stop")
	default:
	}
	if err := s.writable(ctx); err != nil {
		s.log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", err))
		return probeView{}, problem(codeUnavailable, "the store cannot be written")
	}
	return probeView{
		Status: "ok", Version: s.cfg.Version, Database: s.db.Dialect.String(),
		Uptime: int64(s.cfg.Now().Sub(s.started).Seconds()),
	}, nil
}

// writable commits a write, unless one has just succeeded.
func (s *Server) writable(ctx context.Context) error {
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	now := time.Now()
	if now.Sub(s.probe.wrote) < probeFresh {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO server_probe (id, at_us) VALUES (1, $1)
			ON CONFLICT (id) DO UPDATE SET at_us = excluded.at_us`, database.Micros(now))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the probe's row: %w", err)
	}
	s.probe.wrote = now
	return nil
}
