package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

const (
	probePath      = "/probe"
	probeFresh     = time.Second // how long a successful write answers for
	probeTimeout   = 3 * time.Second
	probeSize      = 64 << 10 // bytes of a write: more than a message and all that follows from it
	probeUncertain = 1 << 20  // bytes of a write after a request was refused: as many as a body may have
)

// probe remembers the last write, so that asking often costs nothing. After
// the store has refused what a request brought it asks for more room than
// usual: a full disk still has some for what is small.
type probe struct {
	db       *database.DB
	media    *media.Library // nil: files are not kept
	files    *openFiles
	log      *slog.Logger
	now      func() time.Time
	started  time.Time
	stopping <-chan struct{} // closed when draining begins
	version  string

	mu      sync.Mutex
	wrote   time.Time
	cleared int64       // refusals that a write of probeUncertain has followed
	writing *probeWrite // under way, or nil

	refusals atomic.Int64 // of requests
}

// probeWrite is a write that all who ask meanwhile wait for. A database that
// hangs may keep it for longer than they do.
type probeWrite struct {
	done     chan struct{} // closed before err is read
	err      error
	refusals int64 // before it
}

type probeView struct {
	Status   string `json:"status" enum:"ok"`
	Version  string `json:"version"`
	Database string `json:"database" enum:"sqlite,postgres"`
	Uptime   int64  `json:"uptime" doc:"Seconds since the server started."`
}

func (p *probe) register(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Server_Probe", Method: http.MethodGet, Path: probePath, Summary: "Check whether the server works",
		About:  "Answers 503 if there is no space for another message, the database or the folder of media files cannot be written, there are too many open files, or the server is about to stop.",
		Errors: []int{http.StatusServiceUnavailable},
	}, httpapi.Anyone, p.serve)
}

func (p *probe) serve(ctx context.Context, _ httpapi.Call, _ *struct{}) (probeView, error) {
	select {
	case <-p.stopping:
		return probeView{}, httpapi.NewProblem(httpapi.CodeUnavailable, "the server is about to stop")
	default:
	}
	err := p.check(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return probeView{}, httpapi.NewProblem(httpapi.CodeUnavailable, "the request was ended before it was answered")
	case errors.Is(err, media.ErrFull):
		return probeView{}, httpapi.NewProblem(httpapi.CodeUnavailable, "the disk of the media files is full: free some space")
	default:
		return probeView{}, httpapi.StoreProblem(err)
	}
	return probeView{
		Status: "ok", Version: p.version, Database: p.db.Dialect.String(),
		Uptime: int64(p.now().Sub(p.started).Seconds()),
	}, nil
}

// errSilent is the error of a write that takes longer than a probe waits.
var errSilent = fmt.Errorf("%w: neither the database nor the folder of media files answers", database.ErrUnwritable)

// check returns why the server cannot accept a message, or nil.
func (p *probe) check(ctx context.Context) error {
	if err := p.files.exhausted(); err != nil {
		return err
	}
	return p.writable(ctx)
}

// writable commits a write, unless one has just succeeded, or fails when that
// takes too long.
func (p *probe) writable(ctx context.Context) error {
	w := p.pending()
	if w == nil {
		return nil
	}
	late := time.NewTimer(probeTimeout)
	defer late.Stop()
	select {
	case <-w.done:
		return w.err
	case <-late.C:
		p.log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", errSilent))
		return errSilent
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pending returns the write that is under way, or a new one; nil when none is
// needed.
func (p *probe) pending() *probeWrite {
	p.mu.Lock()
	defer p.mu.Unlock()
	refusals, bytes := p.refusals.Load(), probeSize
	switch {
	case p.writing != nil:
		return p.writing
	case refusals != p.cleared:
		bytes = probeUncertain
	case time.Since(p.wrote) < probeFresh:
		return nil
	}
	p.writing = &probeWrite{done: make(chan struct{}), refusals: refusals}
	go p.write(p.writing, bytes)
	return p.writing
}

func (p *probe) write(w *probeWrite, bytes int) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	now := time.Now()
	w.err = p.occupy(ctx, now, bytes)
	if w.err == nil && p.media != nil {
		if err := p.media.Room(ctx, int64(bytes)); err != nil {
			w.err = &mediaError{err}
		}
	}
	if w.err != nil { // not by the requests: those that hang up tell of no fault
		p.log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", w.err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.err == nil {
		p.wrote, p.cleared = now, w.refusals
	}
	p.writing = nil
	close(w.done)
}

// mediaError is a [database.ErrUnwritable] of the store of media files.
type mediaError struct{ err error }

func (e *mediaError) Error() string   { return "storing media files: " + e.err.Error() }
func (e *mediaError) Unwrap() []error { return []error{database.ErrUnwritable, e.err} }

// occupy writes a row of so many bytes, which no database can compress, and
// then deletes the one before: there must be room for both, and in between
// a caller that needs it has the room of one.
func (p *probe) occupy(ctx context.Context, now time.Time, bytes int) error {
	noise := make([]byte, bytes/4*3)
	_, _ = rand.Read(noise)                                                // never fails
	id, room := mathrand.Int64(), base64.StdEncoding.EncodeToString(noise) //nolint:gosec // it is not a secret
	err := p.db.Write(ctx, func(tx *database.Tx) error {
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
