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

// maxBody bounds the body of a request. The registry has a lower limit for
// arguments.
const maxBody = 1 << 20

// JSON-RPC codes of requests that are refused before the SDK reads them.
const (
	codeRefused        = -32000
	codeInvalidRequest = -32600
)

type callerKey struct{}

// callerOf returns the caller of a request. The SDK passes only the context from
// the HTTP request to the handler.
func callerOf(ctx context.Context) mcp.Caller {
	c, _ := ctx.Value(callerKey{}).(mcp.Caller)
	return c
}

// ServeHTTP makes the checks that the SDK leaves to its host, and passes the
// request on.
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
	ctx = context.WithValue(ctx, callerKey{}, caller)
	if call, ok := h.readDirect(r); ok {
		h.serveDirect(ctx, w, call)
		return
	}
	h.stream.ServeHTTP(w, r.WithContext(ctx))
}

// expected refuses host names that a page of another site has pointed at this
// machine (DNS rebinding). It accepts names that a proxy in front uses.
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

// admit returns the caller, or answers why the request is refused.
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
	case r.Context().Err() != nil: // the client has disconnected
	default:
		h.logger.ErrorContext(r.Context(), "authenticating failed", "error", err)
		refuse(w, http.StatusServiceUnavailable, codeRefused, "the token cannot be checked at the moment: try again")
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

// challenge tells a client where to find the requirements of this server (RFC 9728)
// and what is wrong with its token (RFC 6750).
func (h *Handler) challenge(w http.ResponseWriter, reason string) {
	c := fmt.Sprintf("Bearer resource_metadata=%q", h.base.JoinPath(MetadataPath))
	if reason != "" {
		c += fmt.Sprintf(", error=%q", reason)
	}
	w.Header().Set("WWW-Authenticate", c)
}

// startsArray reports whether the body is a batch. No revision since 2025-06-18 has
// batches, and a batch could make a thousand calls in one request.
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

// refuse answers a request that is not passed to the SDK.
func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
}

// baseOf parses Options.BaseURL.
func baseOf(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("Options.BaseURL must be an absolute http or https URL")
	}
	return u, nil
}
