package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/bucket"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/panel"
)

// passingError is a fault that ends by itself, or when its operator has acted, so
// that the server waits: the database is not up yet, or the disk is full.
type passingError struct {
	why  string // for the operator
	what string // for everybody: no names of hosts
}

func (e *passingError) Error() string { return e.why }

const (
	fullDisk    = "the disk is full"
	noOpenFiles = "there are too many open files"
	unreachable = "the database or the store of files cannot be reached"

	liteBusy  = 5
	liteIOErr = 10
)

// unusable is a [passingError] if err passes, and else a [settingError].
func unusable(flag, why string, err error) error {
	wrong := &settingError{flag, why}
	if what := passes(err); what != "" {
		return &passingError{wrong.Error(), what}
	}
	return wrong
}

// passes returns what is wrong for now, or "" if err will not pass.
func passes(err error) (what string) {
	var lite interface{ Code() int }
	var dns *net.DNSError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fullDisk
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return noOpenFiles
	case database.IsFull(err):
		return fullDisk
	case errors.As(err, &lite):
		switch lite.Code() & 0xff { // https://sqlite.org/rescode.html
		case liteBusy:
			return "another program writes to the database"
		case liteIOErr:
			return "the disk fails"
		}
		return ""
	case errors.As(err, &dns), errors.Is(err, context.DeadlineExceeded), database.IsUnwritable(err), bucket.IsBusy(err):
		return unreachable
	}
	return ""
}

// opened is what a server works with.
type opened struct {
	home   *folder
	db     *sqlx.DB
	server *server.Server
}

func (o *opened) close() {
	if o.db != nil {
		closeSoon(o.db)
	}
	if o.home != nil {
		o.home.close()
	}
}

// openAll opens everything, or nothing.
func openAll(ctx context.Context, set settings, own net.Addr, log *slog.Logger) (_ *opened, err error) {
	o := &opened{}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	if o.home, err = openFolder(set.Data); err != nil {
		return nil, err
	}
	if o.db, err = openDatabase(ctx, set, o.home); err != nil {
		return nil, err
	}
	set.Server.Panel = panel.Handler
	if o.server, err = newServer(ctx, set, o.home, o.db, own, log); err != nil {
		return nil, err
	}
	return o, nil
}

const (
	firstWait = 250 * time.Millisecond // until it is tried again
	maxWait   = 4 * time.Second
	sayEvery  = time.Minute
)

// awaitAll opens everything. While a fault prevents it that passes, it tries again,
// says so in the log and to those who ask, and ends with ctx.
func awaitAll(ctx context.Context, set settings, l server.Listeners, log *slog.Logger) (*opened, error) {
	o, err := openAll(ctx, set, l.Main.Addr(), log)
	passing, is := errors.AsType[*passingError](err)
	if !is {
		return o, err
	}
	h := standIn(l, passing.what)
	defer h.end()
	var said string
	var saidAt time.Time
	for wait := firstWait; is; wait = min(2*wait, maxWait) {
		if said != passing.why || time.Since(saidAt) >= sayEvery {
			said, saidAt = passing.why, time.Now()
			log.WarnContext(ctx, "the server waits until it can start", slog.String("cause", passing.why))
		}
		h.what.Store(&passing.what)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		o, err = openAll(ctx, set, l.Main.Addr(), log)
		passing, is = errors.AsType[*passingError](err)
	}
	return o, err
}

// unstarted answers every request that the server does not work yet.
type unstarted struct {
	what atomic.Pointer[string]
	on   *lent
	http *http.Server
	done chan struct{}
}

// standIn answers the requests to a listener until [unstarted.end], first with what.
func standIn(l server.Listeners, what string) *unstarted {
	h := &unstarted{on: &lent{l.Main}, done: make(chan struct{})}
	h.what.Store(&what)
	h.http = &http.Server{Handler: h, ReadTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	serve := func() error { return h.http.Serve(h.on) }
	if l.Certificate != nil {
		h.http.TLSConfig = &tls.Config{GetCertificate: l.Certificate.Get, MinVersion: tls.VersionTLS12}
		serve = func() error { return h.http.ServeTLS(h.on, "", "") }
	}
	go func() {
		defer close(h.done)
		_ = serve()
	}()
	return h
}

// end stops answering. The listener stays open.
func (h *unstarted) end() {
	_ = h.http.Close()
	<-h.done
	if to, ok := h.on.Listener.(deadliner); ok {
		_ = to.SetDeadline(time.Time{})
	}
}

// ServeHTTP implements [http.Handler].
func (h *unstarted) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", "2")
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "about:blank", "title": http.StatusText(http.StatusServiceUnavailable), "status": http.StatusServiceUnavailable,
		"code": "unavailable", "detail": "the server waits until it can start: " + *h.what.Load(), "errors": []any{},
	})
}

type deadliner interface{ SetDeadline(t time.Time) error }

// lent is a listener whose Close only ends Accept.
type lent struct{ net.Listener }

// Close implements [net.Listener].
func (l *lent) Close() error {
	if to, ok := l.Listener.(deadliner); ok {
		return to.SetDeadline(time.Now()) // ends Accept
	}
	return nil
}
