package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultURL is where Meta serves the Graph API.
const DefaultURL = "https://graph.facebook.com"

// Version is the version of the Graph API that this package uses. It is in the
// path of every request.
const Version = "v25.0"

const (
	defaultTimeout = 30 * time.Second
	maxAnswer      = 4 << 20 // maximum size of an answer in bytes
)

// Options configures a [Client]. Nil and the zero value mean the defaults.
type Options struct {
	// URL is the address of the API without version; "": [DefaultURL].
	URL string
	// HTTPClient sends the requests; nil: that of [NewHTTPClient], and one that
	// refuses private addresses for links in answers. Redirects are never
	// followed. Its RoundTripper must not repeat POST requests: a message would
	// be sent twice.
	HTTPClient *http.Client
	// Timeout limits a call whose context has no deadline; 0: 30 s, -1: none.
	Timeout time.Duration
	// Now is the clock for dates in Retry-After; nil: time.Now.
	Now func() time.Time
}

// Client calls the Graph API. It has no state except its connections and may be
// used concurrently.
type Client struct {
	base    string
	http    *http.Client
	foreign *http.Client // for hosts in links of answers
	timeout time.Duration
	now     func() time.Time
	token   string
}

// New returns a client without a token; [Client.As] sets one. It panics when
// the URL is not an absolute http or https URL.
func New(o *Options) *Client {
	if o == nil {
		o = &Options{}
	}
	c := &Client{base: DefaultURL, timeout: defaultTimeout, now: time.Now}
	if o.URL != "" {
		c.base = strings.TrimRight(o.URL, "/")
	}
	if u, err := url.Parse(c.base); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		panic("graph: not an http address: " + c.base)
	}
	if o.Timeout != 0 {
		c.timeout = o.Timeout
	}
	if o.Now != nil {
		c.now = o.Now
	}
	own, foreign := o.HTTPClient, o.HTTPClient
	if own == nil {
		own = NewHTTPClient()
		foreign = &http.Client{Transport: newElsewhere(own.Transport)}
	}
	c.http, c.foreign = withoutRedirects(own), withoutRedirects(foreign)
	return c
}

// withoutRedirects returns a copy of a client that follows no redirects, which
// would send the message and the token to another host.
func withoutRedirects(c *http.Client) *http.Client {
	copied := *c
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied
}

// NewHTTPClient returns an HTTP client for the Graph API. It connects within 10
// s, keeps connections for many references, and detects dead ones. The context
// limits the whole call.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}}
}

// As returns a client that shares c's connections and sends token.
func (c *Client) As(token string) *Client {
	as := *c
	as.token = token
	return &as
}

// String describes the client without its token.
func (c *Client) String() string { return "graph.Client(" + c.base + ")" }

// GoString keeps the token out of %#v.
func (c *Client) GoString() string { return c.String() }

// Get requests path, which starts after the version, and decodes the answer
// into out. The query may be nil.
//
// An answer that is an error is an [*Error], whatever its HTTP status. For any
// other failure, [SendError] tells whether the API may have received the
// request.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	return c.call(ctx, &request{method: http.MethodGet, path: withQuery(path, query)}, out)
}

// Post sends body as JSON to path and decodes the answer into out. A nil body
// sends an empty body; a nil out ignores the answer. Its errors are those of
// [Client.Get].
func (c *Client) Post(ctx context.Context, path string, body, out any) error {
	r := &request{method: http.MethodPost, path: path}
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return &unsent{fmt.Errorf("encoding a request: %w", err)}
		}
		r.body, r.contentType = bytes.NewReader(raw), "application/json"
	}
	return c.call(ctx, r, out)
}

// Delete deletes what path and query name. Its errors are those of
// [Client.Get].
func (c *Client) Delete(ctx context.Context, path string, query url.Values, out any) error {
	return c.call(ctx, &request{method: http.MethodDelete, path: withQuery(path, query)}, out)
}

// request is a call without address and token.
type request struct {
	method, path string
	body         io.Reader // nil: none
	size         int64     // of a body without a known length; 0: not known
	contentType  string    // of the body
	timeout      time.Duration
}

func withQuery(path string, query url.Values) string {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

func (c *Client) call(ctx context.Context, r *request, out any) error {
	ctx, cancel := c.bound(ctx, r.timeout)
	defer cancel()
	raw, err := c.roundTrip(ctx, r)
	if err != nil {
		return fmt.Errorf("graph: %s: %w", r.method, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("graph: %s: decoding the answer: %w", r.method, err)
	}
	return nil
}

// bound gives a context without deadline the client's timeout, or most if that
// is longer.
func (c *Client) bound(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has || c.timeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(c.timeout, limit))
}

// roundTrip returns the body of an answer that is not an error.
func (c *Client) roundTrip(ctx context.Context, r *request) ([]byte, error) {
	w := &watch{}
	req, err := c.request(w.trace(ctx), r)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, w.judge(ctx, withoutURL(err))
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	if err != nil {
		err = fmt.Errorf("reading the answer (HTTP %d): %w", res.StatusCode, err)
		if res.StatusCode >= 300 && res.StatusCode < 500 {
			return nil, &unsent{err} // the API has refused it, but the reason could not be read
		}
		return nil, err
	}
	if refused := c.refusal(res, raw); refused != nil {
		return nil, refused
	}
	return raw, nil
}

// request returns the HTTP request of r. After an error nothing was sent.
func (c *Client) request(ctx context.Context, r *request) (*http.Request, error) {
	if err := ctx.Err(); err != nil {
		return nil, &unsent{err}
	}
	if !sendable(c.token) {
		return nil, &Error{Code: 190, Message: "the access token must have printable ASCII characters only"}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+"/"+Version+"/"+r.path, r.body)
	if err != nil {
		return nil, &unsent{withoutURL(err)}
	}
	if req.ContentLength <= 0 && r.size > 0 {
		req.ContentLength = r.size
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// withoutURL removes the URL from an error: its query may contain a token.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// sendable reports whether a header can contain the token.
func sendable(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
