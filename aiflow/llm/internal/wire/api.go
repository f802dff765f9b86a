package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// API makes the requests to one server of models.
type API struct {
	Base   *url.URL     // without a query; paths are relative to it
	Header http.Header  // of every request
	Client *http.Client // converts error responses to errors; see [Client]
}

// Get reads the JSON document at a path.
func (a *API) Get(ctx context.Context, path string, into any) error {
	return a.whole(ctx, http.MethodGet, path, nil, into)
}

// Post sends a value and reads the JSON document of the answer.
func (a *API) Post(ctx context.Context, path string, body, into any) error {
	return a.whole(ctx, http.MethodPost, path, body, into)
}

func (a *API) whole(ctx context.Context, method, path string, body, into any) error {
	res, err := a.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// Stream sends a value and passes on the data of each event of the answer, which fn
// must not keep. It ends after the event [DONE] of OpenAI's protocol, or when fn
// returns an error; [io.EOF] is none.
func (a *API) Stream(ctx context.Context, path string, body any, fn func(data []byte) error) error {
	res, err := a.send(ctx, http.MethodPost, path, "text/event-stream", body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := events(res.Body, fn); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// send makes one request.
func (a *API) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	path, query, _ := strings.Cut(path, "?")
	u := a.Base.JoinPath(path)
	u.RawQuery, u.Fragment = query, ""
	r, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header = a.Header.Clone()
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "trunkline")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := a.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("asking the server: %w", err)
	}
	return res, nil
}

// maxLine exceeds the length of any line of a stream.
const maxLine = 32 << 20

// events reads a stream of server-sent events.
//
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
func events(r io.Reader, fn func(data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if part, is := bytes.CutPrefix(line, []byte("data:")); is {
			data = append(append(data, bytes.TrimPrefix(part, []byte(" "))...), '\n')
			continue
		}
		if len(line) > 0 || len(data) == 0 {
			continue // another field, a comment, or an event without data
		}
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return nil
		}
		if err := fn(data); err != nil {
			return err // io.EOF, too
		}
		data = data[:0]
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the stream: %w", err)
	}
	return nil
}
