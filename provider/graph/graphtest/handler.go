package graphtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/provider/graph"
)

const maxBody = 1 << 20

// call is a request in hand.
type call struct {
	method string
	id     string // the object: of a phone number or a business account
	edge   string // what of it, or ""
	token  string
	query  map[string][]string
	body   json.RawMessage
}

// Handler serves the fake.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(100, "(#100) The body could not be read").write(w)
		return
	}
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	at := s.note(r, path, body)
	answer := s.answer(r, version, path, body)
	s.pause(r.Context())
	s.record(func() { s.requests[at].Status = answer.status })
	answer.write(w)
}

// note records a request and returns its place.
func (s *Server) note(r *http.Request, path string, body []byte) (at int) {
	query := r.URL.Query()
	query.Del("access_token")
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req := Request{Method: r.Method, Path: path, At: s.opts.Now()}
	if json.Valid(body) {
		req.Body = body
	}
	s.record(func() {
		at = len(s.requests)
		s.requests = append(s.requests, req)
	})
	return at
}

// pause lets the latency pass.
func (s *Server) pause(ctx context.Context) {
	s.mu.Lock()
	latency := s.latency
	s.mu.Unlock()
	if latency <= 0 {
		return
	}
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.over.Done():
	}
}

func (s *Server) answer(r *http.Request, version, path string, body []byte) *reply {
	if version != graph.Version {
		return refuse(2500, "Unknown path components: /%s", version)
	}
	c := &call{method: r.Method, token: bearer(r), query: r.URL.Query(), body: body}
	c.id, c.edge, _ = strings.Cut(strings.Trim(path, "/"), "/")
	if refused := s.authorize(c); refused != nil {
		return refused
	}
	run := func() *reply { return s.dispatch(r.Context(), c) }
	if f := s.fault("/"+path, c.sends()); f != nil {
		if f.Taken {
			run()
		}
		return s.apply(r.Context(), f)
	}
	return run()
}

func bearer(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return r.URL.Query().Get("access_token")
}

// authorize refuses what has no token that any line knows.
func (s *Server) authorize(c *call) *reply {
	if c.token == "" {
		r := refuse(104, "An access token is required to request this resource.")
		r.status = http.StatusUnauthorized
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.lines, func(l Line) bool { return l.AccessToken == c.token }) {
		r := refuse(190, "Invalid OAuth access token - Cannot parse access token")
		r.status = http.StatusUnauthorized
		return r
	}
	return nil
}

// sends says whether the call hands over a message.
func (c *call) sends() bool {
	var probe struct {
		Status string `json:"status"`
	}
	return c.method == http.MethodPost && c.edge == "messages" && (json.Unmarshal(c.body, &probe) != nil || probe.Status == "")
}

func (s *Server) dispatch(ctx context.Context, c *call) *reply {
	if l, ok := s.visible(c.id, c.token); ok {
		switch {
		case c.edge == "" && c.method == http.MethodGet:
			return phoneNumber(l, c.query)
		case c.edge == "messages" && c.method == http.MethodPost:
			return s.messages(l, c.body)
		}
		return absent(strings.ToLower(c.method), c.id)
	}
	lines := slices.DeleteFunc(s.account(c.id), func(l Line) bool { return l.AccessToken != c.token })
	if len(lines) > 0 && c.edge == "subscribed_apps" {
		return s.subscriptions(ctx, lines[0], c)
	}
	return absent(strings.ToLower(c.method), c.id)
}

// visible finds a line that the token may act for.
func (s *Server) visible(id, token string) (Line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if l.PhoneNumberID == id && l.AccessToken == token {
			return l, true
		}
	}
	return Line{}, false
}
