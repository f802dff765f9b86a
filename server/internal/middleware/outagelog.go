package middleware

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// outageLines is how often a message about an outage of the database is logged.
const outageLines = time.Minute

// OutageLog logs each message about an outage, as of the database, once, and then once a
// minute with the number of lines that it stands for: thousands of requests and
// workers may say the same. It passes on all other lines.
type OutageLog struct {
	slog.Handler
	said *said
}

// NewOutageLog returns an OutageLog before next.
func NewOutageLog(next slog.Handler) OutageLog {
	return OutageLog{next, &said{lines: map[string]*line{}}}
}

// said is what was logged within the last minute.
type said struct {
	mu    sync.Mutex
	lines map[string]*line // by their message
}

// line is a message, and what was not logged of it.
type line struct {
	left int
	last func(left int) // logs the last one
}

// Handle implements [slog.Handler].
func (h OutageLog) Handle(ctx context.Context, rec slog.Record) error {
	if rec.Level < slog.LevelWarn || !isOutage(rec) {
		return h.Handler.Handle(ctx, rec)
	}
	h.said.mu.Lock()
	defer h.said.mu.Unlock()
	if l := h.said.lines[rec.Message]; l != nil {
		rec, ctx := rec.Clone(), context.WithoutCancel(ctx)
		l.left++
		l.last = func(left int) {
			rec.AddAttrs(slog.Int("lines", left))
			_ = h.Handler.Handle(ctx, rec) // slog reports no errors either
		}
		return nil
	}
	h.said.lines[rec.Message] = &line{}
	time.AfterFunc(outageLines, func() { h.said.flush(rec.Message) })
	return h.Handler.Handle(ctx, rec)
}

// flush logs what a message stands for, and forgets it when that is nothing.
func (s *said) flush(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[message]
	if l.left == 0 {
		delete(s.lines, message)
		return
	}
	l.last(l.left)
	*l = line{}
	time.AfterFunc(outageLines, func() { s.flush(message) })
}

// isOutage reports whether a line says that the database cannot be used for now, or that
// there are too many open files.
func isOutage(rec slog.Record) (is bool) {
	rec.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		is = ok && (database.IsUnwritable(err) || httpapi.IsOpenFiles(err) || errors.Is(err, context.DeadlineExceeded) && database.Failed(err))
		return !is
	})
	return is
}

// WithAttrs implements [slog.Handler].
func (h OutageLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return OutageLog{h.Handler.WithAttrs(attrs), h.said}
}

// WithGroup implements [slog.Handler].
func (h OutageLog) WithGroup(name string) slog.Handler {
	return OutageLog{h.Handler.WithGroup(name), h.said}
}
