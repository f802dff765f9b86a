package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	probePath    = "/probe"
	probeFresh   = time.Second // how long a successful write answers for
	probeTimeout = 3 * time.Second
	probeSize    = 64 << 10 // bytes of a write: more than a message and all that follows from it
	probeDoubt   = 1 << 20  // bytes of a write after a request was refused: as many as a body may have
)

// probe remembers the last write, so that asking often costs nothing. After
// the store has refused what a request brought it asks for more room than
// usual: a full disk still has some for what is small.
type probe struct {
	mu      sync.Mutex
	wrote   time.Time
	cleared int64 // refusals that a write of probeDoubt has followed

	refusals atomic.Int64 // of requests
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
		about:  "Answers 503 when the store has no room for a message or cannot be written at all, and when the server is about to stop.",
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
	p := &s.probe
	p.mu.Lock()
	defer p.mu.Unlock()
	now, refusals, bytes := time.Now(), p.refusals.Load(), probeSize
	switch {
	case refusals != p.cleared:
		bytes = probeDoubt
	case now.Sub(p.wrote) < probeFresh:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := s.occupy(ctx, now, bytes); err != nil {
		return err
	}
	p.wrote, p.cleared = now, refusals
	return nil
}

// occupy writes a row of so many bytes, which no database can compress, and
// then deletes the one before: there must be room for both, and in between
// whoever needs it has the room of one.
func (s *Server) occupy(ctx context.Context, now time.Time, bytes int) error {
	noise := make([]byte, bytes/4*3)
	_, _ = rand.Read(noise)                                                // never fails
	id, room := mathrand.Int64(), base64.StdEncoding.EncodeToString(noise) //nolint:gosec // nobody gains by guessing it
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO server_probe (id, at_us, room) VALUES ($1, $2, $3)`, id, database.Micros(now), room); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM server_probe WHERE id <> $1`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the probe's row: %w", err)
	}
	return nil
}
