package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// maxAnswer is the largest answer that is read: an export of a chat.
const maxAnswer = 256 << 20

// request is a call of an operation.
type request struct {
	id, method, path string
	query            url.Values
	header           http.Header
	body             any    // nil: none
	params           any    // a pointer to a struct of optional parameters, or nil
	raw              []byte // the body as it is sent
	wrong            error  // of what inPath was given
}

// inPath refuses what would lead to another operation.
func (r *request) inPath(name string, value any) {
	text := fmt.Sprint(value)
	if text == "" || text == "." || text == ".." {
		r.wrong = fmt.Errorf("client: calling %s: %s must not be %q", r.id, name, text)
	}
	r.path = strings.ReplaceAll(r.path, "{"+name+"}", url.PathEscape(text))
}

func (r *request) inQuery(name string, value any) {
	if r.query == nil {
		r.query = url.Values{}
	}
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Slice {
		r.query.Set(name, fmt.Sprint(value))
		return
	}
	var all []string
	for i := range v.Len() {
		all = append(all, fmt.Sprint(v.Index(i)))
	}
	r.query.Set(name, strings.Join(all, ","))
}

func (r *request) inHeader(name string, value any) {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, fmt.Sprint(value))
}

// prepare reads the optional parameters and writes the body.
func (r *request) prepare() error {
	if r.wrong != nil {
		return r.wrong
	}
	if p := reflect.ValueOf(r.params); p.IsValid() && !p.IsNil() {
		for i := range p.Elem().NumField() {
			v, f := p.Elem().Field(i), p.Elem().Type().Field(i)
			if v.IsZero() {
				continue
			}
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if name, ok := f.Tag.Lookup("query"); ok {
				r.inQuery(name, v.Interface())
			} else {
				r.inHeader(f.Tag.Get("header"), v.Interface())
			}
		}
	}
	if r.body == nil {
		return nil
	}
	raw, err := json.Marshal(r.body)
	if err != nil {
		return fmt.Errorf("client: writing the body of %s: %w", r.id, err)
	}
	r.raw = raw
	r.inHeader("Content-Type", "application/json")
	return nil
}

// repeatable says that a request does no more if it is made twice.
func (r *request) repeatable() bool {
	switch r.method {
	case http.MethodGet, http.MethodPut:
		return true
	case http.MethodPatch:
		return r.header.Get("If-Match") == "" && r.id != "Webhooks_Update" && r.id != "Auth_UpdateUser" // which may replace a secret
	}
	return r.header.Get("Idempotency-Key") != ""
}

// answer makes a call whose answer is JSON.
func answer[T any](ctx context.Context, c *Client, r *request) (*T, error) {
	out := new(T)
	if err := c.call(ctx, r, out); err != nil {
		return nil, err
	}
	return out, nil
}

// call makes a request, again where that is of use, and reads its answer.
func (c *Client) call(ctx context.Context, r *request, out any) error {
	if err := r.prepare(); err != nil {
		return err
	}
	if r.id == "Messaging_Send" && r.header.Get("Idempotency-Key") == "" {
		r.inHeader("Idempotency-Key", rand.Text())
	}
	for attempt := 0; ; attempt++ {
		err := c.once(ctx, r, out)
		if err == nil || attempt >= c.opts.Retries || !again(r, err) {
			return err
		}
		if waited := pause(ctx, c.opts.Wait<<min(attempt, 6), err); waited != nil {
			return err
		}
	}
}

// again says whether another attempt may help and does no harm.
func again(r *request, err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return r.repeatable() && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	switch e.Status {
	case http.StatusTooManyRequests:
		return e.RetryAfter <= time.Minute
	case http.StatusBadGateway: // of a proxy; ours is a refusal with a code
		return r.repeatable() && e.Code == ""
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return r.repeatable()
	case http.StatusConflict: // the first request with the key is still under way
		return r.repeatable() && e.RetryAfter > 0
	}
	return false
}

// pause waits as long as the server says, else d and up to half of it more.
func pause(ctx context.Context, d time.Duration, err error) error {
	d += time.Duration(jitter(int64(d / 2)))
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		d = e.RetryAfter
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// once makes a request once.
func (c *Client) once(ctx context.Context, r *request, out any) error {
	res, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("client: reading the answer of %s: %w", r.id, err)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode >= http.StatusMultipleChoices && (kind != "application/json" || out == nil || r.id != "MCP_Execute") {
		return refusal(res, body)
	}
	if out == nil || len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("client: reading the answer of %s: %w", r.id, err)
	}
	return nil
}

// send makes a request and returns its answer, whatever it is.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.raw))
	if err != nil {
		return nil, fmt.Errorf("client: making a request of %s: %w", r.id, err)
	}
	if r.header != nil {
		req.Header = r.header.Clone()
	}
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	res, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: calling %s: %w", r.id, err)
	}
	return res, nil
}

// walk is an iterator over the pages that fetch returns, beginning with "".
func walk[T any](fetch func(cursor string) (*Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			page, err := fetch(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == nil || *page.Next == "" || *page.Next == cursor {
				return
			}
			cursor = *page.Next
		}
	}
}
