package graph

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// unsent is a failure after which the API has certainly done nothing.
type unsent struct{ err error }

func (e *unsent) Error() string { return e.err.Error() }
func (e *unsent) Unwrap() error { return e.err }

// watch sees how far a request came. Once a connection was handed out the
// request may have been written, whatever the error says later.
type watch struct {
	asked atomic.Bool // the transport looks for a connection, so it reports to us
	got   atomic.Bool // it has one
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

// judge marks err as unsent when that is certain: no connection was had, be it
// for want of an address, a listener, a TLS handshake or time. A transport that
// does not report is believed only for a failed dial.
func (w *watch) judge(ctx context.Context, err error) error {
	cause := err
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		cause = fmt.Errorf("%w: %w", ended, err) // some transports hide the context's own error
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
