package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

const (
	// maxAnswer is more than a model can say: an answer of 128,000 tokens,
	// streamed a token at a time, is some 30 MB.
	maxAnswer = 32 << 20
	// maxRefusal is as much of a refusal as is read.
	maxRefusal = 64 << 10
)

// Client is a client for the provider's own one: it reads at most 32 MiB of an
// answer, follows no redirect, and every response that is no success is an
// [*llm.Error]. c is what it is made of; nil: one that goes through no proxy
// and verifies TLS.
func Client(c *http.Client, provider string) *http.Client {
	own := http.Client{Transport: transport()}
	if c != nil {
		own = *c
	}
	next := own.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own.Transport = limiter{next: next, provider: provider}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func transport() *http.Transport {
	return &http.Transport{
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        50 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
}

// limiter is where a provider's answers come in.
type limiter struct {
	next     http.RoundTripper
	provider string
}

func (d limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	res, err := d.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil && sent.Load() && r.Context().Err() == nil {
		// The model may have worked on it, which costs.
		return nil, &llm.Error{Code: llm.CodeTruncated, Message: "the connection broke off before there was an answer", Provider: d.provider, Err: err}
	}
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 == 2 {
		res.Body = &bounded{ReadCloser: res.Body, left: maxAnswer, provider: d.provider}
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil && r.Context().Err() != nil {
		return nil, fmt.Errorf("reading a refusal: %w", err)
	}
	return nil, Refusal(d.provider, res.StatusCode, res.Header, body)
}

// bounded is an answer that ends with an error when it is too long or breaks
// off.
type bounded struct {
	io.ReadCloser
	left     int64
	provider string
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &llm.Error{Code: llm.CodeMalformed, Message: fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20), Provider: b.provider}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = &llm.Error{Code: llm.CodeTruncated, Message: "the answer broke off", Provider: b.provider, Err: err}
	}
	return n, err
}
