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

// Server makes the requests for models of one server.
type Server struct {
	Base   *url.URL     // without a query; paths are relative to it
	Header http.Header  // of every request
	Client *http.Client // converts error responses to errors; see [Client]
}

// Get reads the JSON document at a path.
func (s *Server) Get(ctx context.Context, path string, into any) error {
	return s.whole(ctx, http.MethodGet, path, nil, into)
}

// Post sends a value and reads the JSON document of the answer.
func (s *Server) Post(ctx context.Context, path string, body, into any) error {
	return s.whole(ctx, http.MethodPost, path, body, into)
}

func (s *Server) whole(ctx context.Context, method, path string, body, into any) error {
	res, err := s.send(ctx, method, path, "application/json", body)
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
func (s *Server) Stream(ctx context.Context, path string, body any, fn func(data []byte) error) error {
	res, err := s.send(ctx, http.MethodPost, path, "text/event-stream", body)
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
func (s *Server) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	path, query, _ := strings.Cut(path, "?")
	u := s.Base.JoinPath(path)
	u.RawQuery, u.Fragment = query, ""
	r, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header = s.Header.Clone()
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "trunkline")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := s.Client.Do(r)
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
