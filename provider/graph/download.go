package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
)

// Limits of a download.
const (
	maxFailures  = 4                // in a row without progress
	maxLinks     = 4                // requested from a source for one file
	maxHops      = 5                // redirects
	idleTimeout  = 30 * time.Second // without data
	firstPause   = 50 * time.Millisecond
	agent        = "Mozilla/5.0 (compatible; Trunkline; +https://github.com/trunklinehq/trunkline)" // what looks like a library is sent away
	maxComplaint = 64 << 10                                                                         // bytes read of an answer that is an error
)

// ErrTooLong is returned when a file has more bytes than allowed.
var ErrTooLong = errors.New("graph: the file is too long")

// ErrPrivate is returned when a link leads to a private address.
var ErrPrivate = errors.New("graph: the link to the file leads to a private address")

// A Source returns a link to a file. It is called again when the link has
// expired.
type Source func(ctx context.Context) (link string, err error)

// Download copies the file at the source's link to w and returns the number of
// bytes written. most limits that number (0: no limit). It resumes an
// interrupted transfer. If the server cannot resume, the first part is read
// again and dropped. An error of the source or of w ends the download.
//
// Links must be https and public, or have the address of the client's own API.
// The token is sent only to the host of the link, not to where that redirects.
func (c *Client) Download(ctx context.Context, from Source, limit int64, w io.Writer) (int64, error) {
	ctx, cancel := c.bound(ctx, transferTimeout)
	defer cancel()
	d := &download{client: c, from: from, limit: limit, to: w}
	for {
		before := d.written
		err := d.attempt(ctx)
		if err == nil {
			return d.written, nil
		}
		if ctx.Err() != nil {
			return d.written, fmt.Errorf("graph: downloading: %w", ctx.Err())
		}
		if d.written > before {
			d.failures = 0
		}
		if d.failures++; d.final(err) {
			return d.written, fmt.Errorf("graph: downloading: %w", err)
		}
		if err := d.pause(ctx); err != nil {
			return d.written, fmt.Errorf("graph: downloading: %w", err)
		}
	}
}

type download struct {
	client   *Client
	from     Source
	limit    int64
	to       io.Writer
	written  int64
	link     string // "": not requested yet
	links    int    // links requested so far
	failures int
	fatal    bool // the last error is permanent, or the caller's
}

// final reports whether err ends the download.
func (d *download) final(err error) bool {
	if d.fatal || d.failures > maxFailures {
		return true
	}
	refused, is := errors.AsType[*Error](err)
	if !is {
		return false
	}
	switch {
	case expired(refused.HTTPStatus):
		d.link = ""
		return d.links >= maxLinks
	case refused.HTTPStatus == http.StatusTooManyRequests, refused.HTTPStatus >= 500:
		return false
	}
	return true
}

// expired reports whether an answer means that a new link is needed.
func expired(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// pause waits a moment after a second failure in a row.
func (d *download) pause(ctx context.Context) error {
	if d.failures < 2 {
		return nil
	}
	timer := time.NewTimer(firstPause << d.failures)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt reads until the end of the file or the first failure.
func (d *download) attempt(ctx context.Context) error {
	if d.link == "" {
		d.links++
		link, err := d.from(ctx)
		if err != nil {
			d.fatal = true
			return err
		}
		d.link = link
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(idleTimeout, cancel)
	defer idle.Stop()
	res, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body := io.Reader(&watched{res.Body, idle})
	if res.StatusCode == http.StatusOK && d.written > 0 { // the server sends the whole file again
		if _, err := io.CopyN(io.Discard, body, d.written); err != nil {
			return fmt.Errorf("reading again: %w", err)
		}
	}
	return d.copy(body)
}

// copy appends body to what was written.
func (d *download) copy(body io.Reader) error {
	out := &counted{to: d.to}
	if d.limit > 0 {
		body = io.LimitReader(body, d.limit-d.written+1)
		out.room = d.limit - d.written
		out.bounded = true
	}
	_, err := io.Copy(out, body)
	d.written += out.n
	d.fatal = out.err != nil
	return err
}

// open requests the rest of the file. The answer is 200 or 206.
func (d *download) open(ctx context.Context) (*http.Response, error) {
	c, link := d.client, d.link
	token := c.token
	for range maxHops {
		target, err := c.permitted(link)
		if err != nil {
			d.fatal = true
			return nil, err
		}
		res, err := d.get(ctx, target, token)
		if err != nil {
			return nil, err
		}
		if res.StatusCode < 300 || res.StatusCode >= 400 {
			return d.accept(res)
		}
		next, err := res.Location()
		_ = res.Body.Close()
		if err != nil {
			return nil, errors.New("a redirect without a target")
		}
		if next.Host != target.Host {
			token = ""
		}
		link = next.String()
	}
	d.fatal = true
	return nil, errors.New("too many redirects")
}

func (d *download) get(ctx context.Context, target *url.URL, token string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	if token != "" && sendable(token) {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept-Encoding", "identity") // otherwise positions in the file are unknown
	if d.written > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.written, 10)+"-")
	}
	carrier := d.client.foreign
	if d.client.owns(target) {
		carrier = d.client.http
	}
	res, err := carrier.Do(req)
	if errors.Is(err, guard.ErrRefused) {
		d.fatal = true
		return nil, ErrPrivate
	}
	if err != nil {
		return nil, withoutURL(err)
	}
	return res, nil
}

// accept checks an answer that contains the file, or the requested rest of it.
func (d *download) accept(res *http.Response) (*http.Response, error) {
	switch res.StatusCode {
	case http.StatusOK:
		return res, nil
	case http.StatusPartialContent:
		if strings.HasPrefix(res.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(d.written, 10)+"-") {
			return res, nil
		}
		_ = res.Body.Close()
		d.fatal = true
		return nil, errors.New("the answer holds another part of the file")
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusRequestedRangeNotSatisfiable &&
		res.Header.Get("Content-Range") == "bytes */"+strconv.FormatInt(d.written, 10) {
		res.StatusCode, res.Body = http.StatusPartialContent, http.NoBody // the transfer was interrupted after the last byte
		return res, nil
	}
	raw, _ := io.ReadAll(io.LimitReader(res.Body, maxComplaint))
	refused := d.client.refusal(res, raw)
	if refused == nil {
		return nil, fmt.Errorf("HTTP status %d instead of the file", res.StatusCode)
	}
	return nil, refused
}

// permitted parses a link that the client may follow.
func (c *Client) permitted(link string) (*url.URL, error) {
	target, err := url.Parse(link)
	if err != nil || target.Host == "" {
		return nil, errors.New("the link to the file is no address")
	}
	if target.Scheme != "https" && !c.owns(target) {
		return nil, errors.New("the link to the file is not https")
	}
	return target, nil
}

// owns reports whether a link has the address of the client's own API.
func (c *Client) owns(link *url.URL) bool {
	own, _ := url.Parse(c.base) // New has checked it
	return link.Scheme == own.Scheme && link.Host == own.Host
}

// watched resets the idle timeout with each read.
type watched struct {
	from io.Reader
	idle *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if n > 0 {
		w.idle.Reset(idleTimeout)
	}
	return n, err
}

// counted counts the bytes, and records the errors that are not the network's.
type counted struct {
	to      io.Writer
	n       int64
	room    int64
	bounded bool
	err     error
}

func (c *counted) Write(p []byte) (int, error) {
	if c.bounded && c.n+int64(len(p)) > c.room {
		c.err = ErrTooLong
		return 0, c.err
	}
	n, err := c.to.Write(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
