package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/guard"
)

// The codes of errors that package flow has no names for.
const (
	codeBlocked  = "http.blocked_host"
	codeTooLarge = "http.too_large"
)

// maxRedirects is how many redirects are followed; each target is guarded.
const maxRedirects = 5

// maxResponse bounds a response whose request names no bound.
const maxResponse = 256 << 10

// idempotencyHeader tells a server that a request may be a repeat.
const idempotencyHeader = "Idempotency-Key"

// fetch makes the request of an HTTP node.
func (o *outbound) fetch(ctx context.Context, c Request) (any, error) {
	in, ok := c.Call.Request.(flow.HTTPRequest)
	if !ok {
		return nil, fmt.Errorf("an HTTP call has a request of the type %T", c.Call.Request)
	}
	req, err := newRequest(ctx, in)
	if err != nil {
		return nil, err
	}
	if c.Call.Once && req.Header.Get(idempotencyHeader) == "" {
		req.Header.Set(idempotencyHeader, c.Key)
	}
	if err := o.authorize(ctx, c.Run.Chat.Account, in.Credential, req); err != nil {
		return nil, err
	}
	if err := o.guard.CheckURL(req.URL.String()); err != nil {
		return nil, httpError(err)
	}
	web := *o.web
	web.CheckRedirect = o.follow
	var left atomic.Bool
	res, err := web.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }})))
	if err != nil {
		err = httpError(err)
		if known, ok := errors.AsType[*flow.Error](err); ok && known.Code == flow.CodeHTTPConnect && c.Call.Once && left.Load() {
			err = &flow.Error{Code: flow.CodeUnknown, Message: "The connection was lost before the response. The server may have received the request, so it is not repeated."}
		}
		return nil, err
	}
	defer res.Body.Close()
	return readResponse(res, in.MaxBytes)
}

func (o *outbound) authorize(ctx context.Context, account, credential string, req *http.Request) error {
	if credential == "" {
		return nil
	}
	if o.opts.Authorize == nil {
		return &flow.Error{Code: flow.CodeHTTPAuth, Message: "This program has no credentials."}
	}
	if err := o.opts.Authorize(ctx, account, credential, req); err != nil {
		if _, ok := errors.AsType[*flow.Error](err); ok {
			return err
		}
		o.opts.Logger.WarnContext(ctx, "a credential could not be used", "credential", credential, "error", err)
		return &flow.Error{Code: flow.CodeHTTPAuth, Message: "The credential could not be used."}
	}
	return nil
}

// newRequest makes the request that a node describes.
func newRequest(ctx context.Context, in flow.HTTPRequest) (*http.Request, error) {
	body, kind, err := requestBody(in.Body)
	if err != nil {
		return nil, &flow.Error{Code: flow.CodeHTTPBody, Message: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, in.Method, in.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &flow.Error{Code: flow.CodeHTTPConnect, Message: "The URL or the method is not valid."}
	}
	if len(body) == 0 {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	req.Header.Set("User-Agent", "Trunkline")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection":
			continue // they are the transport's
		}
		req.Header.Set(name, in.Headers[name])
	}
	return req, nil
}

func requestBody(b flow.HTTPBody) (body []byte, kind string, err error) {
	if len(b.Form) == 0 || b.Type != "multipart/form-data" {
		return []byte(b.Text), b.Type, nil
	}
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(b.Form)) {
		if err := w.WriteField(name, b.Form[name]); err != nil {
			return nil, "", err
		}
	}
	err = w.Close()
	return buf.Bytes(), w.FormDataContentType(), err
}

// follow lets a redirect happen. What the node sent along stays with the host
// that it was meant for: a redirect that would take a body to another is not
// followed.
func (o *outbound) follow(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &flow.Error{Code: flow.CodeHTTPConnect, Message: fmt.Sprintf("There were more than %d redirects.", maxRedirects)}
	}
	if err := o.guard.CheckURL(req.URL.String()); err != nil {
		return err
	}
	if first := via[0].URL; first.Scheme == req.URL.Scheme && first.Host == req.URL.Host {
		return nil
	}
	if req.Body != nil && req.Body != http.NoBody {
		return http.ErrUseLastResponse // the node sees the redirect
	}
	for name := range req.Header {
		switch name {
		case "Accept", "Accept-Language", "Content-Type", "User-Agent":
		default:
			req.Header.Del(name)
		}
	}
	return nil
}

// httpError is the error that a node takes. It does not show the URL, which
// may hold a credential.
func httpError(err error) error {
	if known, ok := errors.AsType[*flow.Error](err); ok {
		return known
	}
	var at *url.Error
	for errors.As(err, &at) {
		err = at.Err
	}
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, guard.ErrRefused):
		return &flow.Error{Code: codeBlocked, Message: "The address is private and not allowed."}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return &flow.Error{Code: flow.CodeHTTPTimeout, Message: "The server did not answer in time."}
	}
	return &flow.Error{Code: flow.CodeHTTPConnect, Message: "The server did not answer: " + guard.Reason(err) + "."}
}

func readResponse(res *http.Response, limit int64) (flow.HTTPResponse, error) {
	if limit <= 0 {
		limit = maxResponse
	}
	out := flow.HTTPResponse{Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		out.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return out, httpError(err)
	}
	if int64(len(raw)) > limit {
		return out, &flow.Error{Code: codeTooLarge, Message: fmt.Sprintf("The response is larger than %d bytes.", limit)}
	}
	if len(raw) == 0 {
		return out, nil
	}
	if !isJSON(res.Header.Get("Content-Type")) {
		out.Body = strings.ToValidUTF8(string(raw), "\uFFFD")
		return out, nil
	}
	if !json.Valid(raw) {
		return out, &flow.Error{Code: flow.CodeHTTPBody, Message: "The response claims to be JSON, but is not valid JSON.", Detail: map[string]any{"status": res.StatusCode}}
	}
	out.Body = json.RawMessage(raw)
	return out, nil
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
