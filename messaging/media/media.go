package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/keyring"
)

// Options configures a [Library]. Secrets is required.
type Options struct {
	// Secrets sign links. Each has at least 32 characters; the newest comes first.
	// The first one signs, all of them verify. Other packages may use the same
	// secrets.
	Secrets []string
	// Temp is the folder of drafts for a store that is not a [Folder]. "": that of
	// the system.
	Temp string
	// NoPrograms disables ffmpeg and pdftoppm; false: they are used if they are on
	// the PATH.
	NoPrograms bool
	// ProgramTime is the time limit of the programs for a file, including the time
	// in the queue. 0: 5 s.
	ProgramTime time.Duration
	// NotFound answers invalid links. nil: [http.NotFound].
	NotFound http.Handler
	Logger   *slog.Logger // nil: slog.Default()
}

// Library stores files in a [Store] and serves them. It is safe for concurrent use.
type Library struct {
	store  Store
	opts   Options
	keys   *keyring.Ring
	digest atomic.Pointer[Digest] // of the files that are served; nil: they are not compared
	lenses chan struct{}          // limits concurrent inspections
	turns  chan struct{}          // limits concurrent programs
}

const (
	// inspectors limits the memory for decoding images.
	inspectors = 1

	sweepAge   = time.Hour // much longer than a stream may pause
	sweepEvery = time.Hour
)

// New returns a Library over store.
func New(store Store, opts *Options) (*Library, error) {
	l := &Library{store: store, lenses: make(chan struct{}, inspectors), turns: make(chan struct{}, programs)}
	if opts != nil {
		l.opts = *opts
	}
	var err error
	if l.keys, err = keyring.New("media", l.opts.Secrets); err != nil {
		return nil, fmt.Errorf("media: Options.Secrets: %w", err)
	}
	l.opts.Secrets = nil // so that they are not printed by mistake
	if l.opts.NotFound == nil {
		l.opts.NotFound = http.HandlerFunc(http.NotFound)
	}
	if l.opts.ProgramTime <= 0 {
		l.opts.ProgramTime = programTime
	}
	l.opts.Logger = cmp.Or(l.opts.Logger, slog.Default())
	return l, nil
}

// Run removes incomplete files of killed processes, at once and then every hour. It
// returns nil after ctx ends.
func (l *Library) Run(ctx context.Context) error {
	s, ok := l.store.(sweeper)
	if !ok {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		n, err := s.Sweep(ctx, sweepAge)
		switch {
		case err != nil && ctx.Err() == nil:
			l.opts.Logger.WarnContext(ctx, "drafts of media files could not be removed", "error", err)
		case n > 0:
			l.opts.Logger.InfoContext(ctx, "removed drafts of media files", "count", n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Room returns an error if a file of size bytes could not be stored now; it is
// [ErrFull] if there is no room. It writes a draft of that size and removes it. Of a
// store that is no folder, it looks only at the folder for temporary files.
func (l *Library) Room(ctx context.Context, size int64) error {
	if m, ok := l.store.(measurer); ok {
		return m.Room(ctx, size)
	}
	d, err := l.draft()
	if err != nil {
		return err
	}
	return d.fill(size)
}

// Open opens a file, or returns [ErrNotFound]. ctx applies until the file is
// closed.
func (l *Library) Open(ctx context.Context, id string) (Object, error) {
	if CheckID(id) != nil {
		return nil, ErrNotFound
	}
	return l.store.Open(ctx, id)
}

// Delete removes a file, which invalidates its links. A missing file is not an
// error.
func (l *Library) Delete(ctx context.Context, id string) error {
	if CheckID(id) != nil {
		return nil
	}
	return l.store.Delete(ctx, id)
}

// draft returns a new draft for a file.
func (l *Library) draft() (*draft, error) {
	if p, ok := l.store.(placer); ok {
		return p.draft()
	}
	f, err := os.CreateTemp(l.opts.Temp, "trunkline-media-*")
	if err != nil {
		return nil, fmt.Errorf("making a draft: %w", full(err))
	}
	d := &draft{File: f, remove: func() error { return os.Remove(f.Name()) }}
	if runtime.GOOS != "windows" {
		_ = d.remove() // an open file needs no name, and an unnamed one leaves nothing behind
	}
	return d, nil
}

// keep stores the draft of size bytes as id.
func (l *Library) keep(ctx context.Context, id string, d *draft, size int64) error {
	if p, ok := l.store.(placer); ok {
		return p.place(id, d)
	}
	return l.store.Put(ctx, id, io.NewSectionReader(d, 0, size), size)
}

// newID returns a new id for a file, or validates the one that the caller chose.
func newID(chosen string) (string, error) {
	if chosen != "" {
		return chosen, CheckID(chosen)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", errors.Join(errors.New("media: making an id"), err)
	}
	return id.String(), nil
}
