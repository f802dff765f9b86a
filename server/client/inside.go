package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// inside answers requests by a handler of this program. Answers may be
// streams.
type inside struct{ h http.Handler }

// RoundTrip returns when the handler has written the head of its answer.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr, in.Host = r.URL.RequestURI(), "127.0.0.1:1", r.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &written{header: http.Header{}, body: out, ready: make(chan struct{})}
	go func() {
		defer func() {
			err := io.EOF
			if v := recover(); v != nil {
				err = fmt.Errorf("client: the server gave up: %v", v)
			}
			_ = in.Body.Close()
			w.WriteHeader(http.StatusOK)
			_ = out.CloseWithError(err)
		}()
		t.h.ServeHTTP(w, in)
	}()
	select {
	case <-r.Context().Done():
		_ = body.Close()
		return nil, r.Context().Err()
	case <-w.ready:
	}
	return &http.Response{
		Status: fmt.Sprint(w.status, " ", http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

// written is an answer as it is written.
type written struct {
	header, sent http.Header
	body         *io.PipeWriter
	status       int
	once         sync.Once
	ready        chan struct{}
}

func (w *written) Header() http.Header { return w.header }

func (w *written) WriteHeader(status int) {
	if status < http.StatusOK {
		return
	}
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

// Write waits until it is read.
func (w *written) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.body.Write(p)
	if errors.Is(err, io.ErrClosedPipe) {
		return n, fmt.Errorf("client: the answer is not read any more: %w", err)
	}
	return n, err
}

// Flush sends the head; the body is never held back.
func (w *written) Flush() { w.WriteHeader(http.StatusOK) }
