package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
)

// maxBody bounds a request's body. Arguments of a function are bounded more
// narrowly by the registry.
const maxBody = 1 << 20

// The JSON-RPC codes of what is refused before the SDK reads it.
const (
	codeRefused        = -32000
	codeInvalidRequest = -32600
)

type callerKey struct{}

// callerOf is who makes a request. Between the HTTP request and a handler lies
// the SDK, through which only the context passes.
func callerOf(ctx context.Context) mcp.Caller {
	c, _ := ctx.Value(callerKey{}).(mcp.Caller)
	return c
}

// ServeHTTP does what the SDK leaves to its host, and hands the request on.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.origin.Check(r); err != nil || !h.expected(r) {
		refuse(w, http.StatusForbidden, codeRefused, "this address does not serve pages of other sites")
		return
	}
	caller, ok := h.admit(w, r)
	if !ok {
		return
	}
	r.Header.Del("Cookie")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if startsArray(r) {
		refuse(w, http.StatusBadRequest, codeInvalidRequest, "a body holds one message, not an array of them")
		return
	}
	ctx := r.Context()
	if h.options.Context != nil {
		ctx = h.options.Context(ctx)
	}
	h.stream.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey{}, caller)))
}

// expected refuses names that a page of another site has made point at this
// machine (DNS rebinding), and lets those pass that a proxy in front uses.
func (h *Handler) expected(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !loopback(addr.String()) {
		return true
	}
	return loopback(r.Host) || strings.EqualFold(r.Host, h.base.Host)
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// admit says who calls, or answers why the request is refused.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (mcp.Caller, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		h.challenge(w, "")
		refuse(w, http.StatusUnauthorized, codeRefused, "a bearer token is required: Authorization: Bearer <token>")
		return mcp.Caller{}, false
	}
	caller, err := h.options.Authenticate(r.Context(), token)
	if err == nil {
		return caller, true
	}
	var known *mcp.Error
	switch {
	case errors.As(err, &known):
		h.deny(w, known)
	case r.Context().Err() != nil: // the client has gone
	default:
		h.logger.ErrorContext(r.Context(), "authenticating failed", "error", err)
		refuse(w, http.StatusServiceUnavailable, codeRefused, "who calls cannot be told at the moment")
	}
	return mcp.Caller{}, false
}

func (h *Handler) deny(w http.ResponseWriter, e *mcp.Error) {
	status := (&mcp.Outcome{Error: e}).Status()
	switch status {
	case http.StatusUnauthorized:
		h.challenge(w, "invalid_token")
	case http.StatusForbidden:
		h.challenge(w, "insufficient_scope")
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(e.RetryAfter)))
	}
	refuse(w, status, codeRefused, e.Message)
}

// challenge names where a client learns what this server asks for (RFC 9728),
// and what was wrong with its token (RFC 6750).
func (h *Handler) challenge(w http.ResponseWriter, reason string) {
	c := fmt.Sprintf("Bearer resource_metadata=%q", h.base.JoinPath(MetadataPath))
	if reason != "" {
		c += fmt.Sprintf(", error=%q", reason)
	}
	w.Header().Set("WWW-Authenticate", c)
}

// startsArray says whether the body is a batch, which no revision since
// 2025-06-18 has and by which one request could make a thousand calls.
func startsArray(r *http.Request) bool {
	body := bufio.NewReaderSize(r.Body, 512)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	for {
		b, err := body.ReadByte()
		if err != nil {
			return false
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		_ = body.UnreadByte()
		return b == '['
	}
}

// refuse answers a request that reaches no method.
func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
}

// baseOf reads Options.BaseURL.
func baseOf(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("Options.BaseURL must be an absolute http or https URL")
	}
	return u, nil
}
