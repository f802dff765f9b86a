// Package client calls the REST API of a Trunkline server. Its services and
// methods are those of the packages that the server is made of: what
// messaging.Account calls Send is [Messaging.Send] here. All but this file's
// neighbours without ".gen" is generated from the OpenAPI document.
//
//	c, err := client.New("https://trunkline.internal", &client.Options{Token: token})
//	sent, err := c.Messaging.Send(ctx, client.SendRequest{
//		Reference: 1, ChatID: "ana@sandbox", Message: client.Content{Type: "text", Text: "Hello"},
//	}, nil)
//	for chat, err := range c.Messaging.AllChats(ctx, 1, nil) { … }
//	for event, err := range c.Messaging.Follow(ctx, nil) { … }
//
// A program that has the server in itself calls it without a network: [In]
// instead of [New] is all that changes.
//
// A refusal is an [*Error] with the code that the API's document has for it.
// Optional members are pointers, which new(value) makes; lists and texts of
// any JSON are left out when they are nil.
//
// The package needs nothing but the standard library.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:generate go test -run TestGenerated -update .

// Options change how a client works. The zero value of each is its default.
type Options struct {
	// Token is sent with every request: one of POST /user/login or of
	// POST /user/token. "": none, for signing up and logging in.
	Token string
	// HTTPClient makes the requests. nil: one that waits 60 s for the head of
	// an answer. Its Timeout would end streams, too. Redirects are an [*Error],
	// whatever it says: they could take the token elsewhere.
	HTTPClient *http.Client
	// Retries is how often a request is made again that was refused for the
	// time being, or whose answer was lost; see [Client]. 0: 3; -1: never.
	Retries int
	// Wait is the pause before the first repetition, which doubles with each of
	// the next six, unless the server says how long. 0: 250 ms.
	Wait time.Duration
}

// Client calls a server. It is safe for concurrent use.
//
// A request is made again, after a pause, when the server says that it asks
// for too much (429). Where that does no more than once (everything that reads
// or replaces, but for secrets and passwords, and what has an idempotency key) also when the server cannot
// now (502, 503, 504), or the connection broke. [Messaging.Send] is given a key of
// its own where there is none, so that nothing is sent twice.
type Client struct {
	services
	base string
	opts Options
}

// New makes a client of the server at an address, "https://example.org/chat".
func New(base string, o *Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("client: reading the address: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("client: the address must begin with http:// or https://")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("client: the address must end with its path")
	}
	c := &Client{base: strings.TrimRight(base, "/")}
	if o != nil {
		c.opts = *o
	}
	if c.opts.HTTPClient == nil {
		c.opts.HTTPClient = waiting(60 * time.Second)
	}
	own := *c.opts.HTTPClient
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.opts.HTTPClient = &own
	c.opts.Retries = cmp.Or(c.opts.Retries, 3)
	c.opts.Wait = cmp.Or(c.opts.Wait, 250*time.Millisecond)
	c.bind()
	return c, nil
}

// In makes a client of a server in this program, such as a *server.Server: its
// requests pass no network. Options.HTTPClient is not used.
func In(h http.Handler, o *Options) *Client {
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.HTTPClient = &http.Client{Transport: inside{h}}
	c, err := New("http://in.process", &opts)
	if err != nil {
		panic(err) // the address is ours
	}
	return c
}

// WithToken is a client like c that sends another token.
func (c *Client) WithToken(token string) *Client {
	out := &Client{base: c.base, opts: c.opts}
	out.opts.Token = token
	out.bind()
	return out
}

func waiting(d time.Duration) *http.Client {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{}
	}
	t = t.Clone()
	t.ResponseHeaderTimeout = d
	return &http.Client{Transport: t}
}

// Page is a page of a list. Next is the cursor of the next one, nil on the
// last.
type Page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}
