package graphtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider/graph"
)

const (
	posters       = 16 // chains of callbacks posted at the same time
	firstRetry    = 20 * time.Millisecond
	maxRetryDelay = time.Second
	postTimeout   = 30 * time.Second
)

// poster posts callbacks.
type poster struct {
	client *http.Client
	log    *slog.Logger
	over   context.Context

	mu      sync.Mutex
	url     string
	waiting []func(context.Context)
	running int
	done    sync.WaitGroup
}

func newPoster(over context.Context, client *http.Client, log *slog.Logger) *poster {
	if client == nil {
		client = &http.Client{
			Timeout:   postTimeout,
			Transport: &http.Transport{MaxIdleConnsPerHost: posters * 2, IdleConnTimeout: time.Minute},
		}
	}
	return &poster{client: client, log: log, over: over}
}

func (p *poster) set(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.url = url
}

func (p *poster) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// wait returns when nothing is posted any more. over has ended before.
func (p *poster) wait() {
	p.done.Wait()
	p.client.CloseIdleConnections()
}

// queue runs job together with up to posters-1 others.
func (p *poster) queue(job func(context.Context)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over.Err() != nil {
		return
	}
	p.waiting = append(p.waiting, job)
	if p.running < posters {
		p.running++
		p.done.Go(p.work)
	}
}

func (p *poster) work() {
	for {
		p.mu.Lock()
		if len(p.waiting) == 0 || p.over.Err() != nil {
			p.running--
			p.mu.Unlock()
			return
		}
		job := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.mu.Unlock()
		job(p.over)
	}
}

// deliver posts until the answer is 200.
func (p *poster) deliver(ctx context.Context, own, secret string, body []byte) error {
	signature := graph.Sign(secret, body)
	for wait := firstRetry; ; wait = min(2*wait, maxRetryDelay) {
		err := p.try(ctx, defaulted(own, p.address()), signature, body)
		if err == nil {
			return nil
		}
		p.log.DebugContext(ctx, "a callback is repeated", slog.Any("error", err))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("graphtest: posting a callback: %w: %w", ctx.Err(), err)
		case <-p.over.Done():
			timer.Stop()
			return fmt.Errorf("graphtest: posting a callback: the fake was closed: %w", err)
		}
	}
}

func (p *poster) try(ctx context.Context, url, signature string, body []byte) error {
	if url == "" {
		return errors.New("no callback is set")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "facebookexternalua")
	req.Header.Set(graph.SignatureHeader, signature)
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) // so that the connection can be reused
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the callback answered %s", res.Status)
	}
	return nil
}

// handshake sends one challenge, as Meta does.
func (p *poster) handshake(ctx context.Context, callback, token string) error {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<31))
	if err != nil {
		return err
	}
	query := url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {n.String()}, "hub.verify_token": {token}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, callback+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || string(body) != n.String() {
		return fmt.Errorf("HTTP status %d; the body must be the challenge", res.StatusCode)
	}
	return nil
}

// wire encodes JSON as Meta does: compact, with \/ and lower-case \uXXXX, other
// Unicode characters as pairs.
func wire(value any) []byte {
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("graphtest: " + err.Error())
	}
	out := make([]byte, 0, plain.Len())
	for _, r := range strings.TrimSuffix(plain.String(), "\n") {
		switch {
		case r == '/':
			out = append(out, '\\', '/')
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
	}
	return out
}
