package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// server makes the requests of a [Model].
type server struct {
	base   *url.URL
	key    string // "": none is sent
	client *http.Client
}

// get reads the JSON document at a path.
func (s *server) get(ctx context.Context, path string, into any) error {
	return s.whole(ctx, http.MethodGet, path, nil, into)
}

// post sends a value and reads the JSON document of the answer.
func (s *server) post(ctx context.Context, path string, body, into any) error {
	return s.whole(ctx, http.MethodPost, path, body, into)
}

func (s *server) whole(ctx context.Context, method, path string, body, into any) error {
	res, err := s.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read completely, or is given up
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// stream sends a value and passes on the data of each event of the answer, until
// fn fails or the server says that the answer is complete.
func (s *server) stream(ctx context.Context, path string, body any, fn func(data []byte) error) error {
	res, err := s.send(ctx, http.MethodPost, path, "text/event-stream", body)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read completely, or is given up
	return events(res.Body, fn)
}

// send makes one request. The client converts error responses to errors.
func (s *server) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	u := s.base.JoinPath(path)
	u.RawQuery, u.Fragment = "", ""
	r, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "trunkline")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("asking the server: %w", err)
	}
	return res, nil
}

// maxLine exceeds the length of any line of a stream.
const maxLine = 32 << 20

// events reads a stream of server-sent events. It ends with the event [DONE], which
// other servers leave out.
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
			return err
		}
		data = data[:0]
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the stream: %w", err)
	}
	return nil
}
