package wire

import (
	"cmp"
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
	// maxAnswer exceeds any answer: 128,000 tokens, streamed one by one, are about
	// 30 MB.
	maxAnswer = 32 << 20
	// maxRefusal limits the body that is read of an error response.
	maxRefusal = 64 << 10
)

// Client returns a client for the provider's library. It reads at most 32 MiB of an
// answer, follows no redirects, and converts every error response to an
// [*llm.Error]. It is based on c; nil: a client without a proxy that verifies TLS.
func Client(c *http.Client, provider string) *http.Client {
	own := http.Client{Transport: transport()}
	if c != nil {
		own = *c
	}
	next := own.Transport
	next = cmp.Or(next, http.DefaultTransport)
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

// limiter is a transport that limits the answers of a provider.
type limiter struct {
	next     http.RoundTripper
	provider string
}

func (d limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	res, err := d.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil && sent.Load() && r.Context().Err() == nil {
		// The model may have processed the request, which costs money.
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

// bounded is a body that returns an error when it is too long or ends early.
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
