package graph

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// unsent is a failure before the API has received the request.
type unsent struct{ err error }

func (e *unsent) Error() string { return e.err.Error() }
func (e *unsent) Unwrap() error { return e.err }

// watch records how far a request has come. Once it has a connection, the
// request may have been written, whatever the error says.
type watch struct {
	asked atomic.Bool // the transport is looking for a connection, so it reports its progress
	got   atomic.Bool // the request has a connection
}

func (w *watch) trace(ctx context.Context) context.Context {
	got := func() { w.got.Store(true) }
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:          func(string) { w.asked.Store(true) },
		GotConn:          func(httptrace.GotConnInfo) { got() },
		WroteHeaderField: func(string, []string) { got() },
		WroteRequest:     func(httptrace.WroteRequestInfo) { got() },
	})
}

// judge marks err as unsent if that is certain: the request had no connection,
// because of an unknown address, a refused connection, a failed TLS handshake
// or a timeout. For a transport that does not report its progress, only a
// failed dial is certain.
func (w *watch) judge(ctx context.Context, err error) error {
	cause := err
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		cause = fmt.Errorf("%w: %w", ended, err) // some transports hide the error of the context
	}
	if w.got.Load() {
		return cause
	}
	var op *net.OpError
	if w.asked.Load() || errors.As(err, &op) && op.Op == "dial" {
		return &unsent{cause}
	}
	return cause
}
