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

// call is a request that is being handled.
type call struct {
	method string
	id     string // the object: a phone number or a business account
	edge   string // the edge of the object, or ""
	token  string
	query  map[string][]string
	body   json.RawMessage

	contentType, host string
}

// Handler returns the handler of the fake.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, attachment) {
		s.Files.download(w, r)
		return
	}
	limit := int64(maxBody)
	if strings.HasSuffix(r.URL.Path, "/media") || strings.HasSuffix(r.URL.Path, "/message_attachments") {
		limit = maxUpload
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
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

// note records a request and returns its index.
func (s *Server) note(r *http.Request, path string, body []byte) (at int) {
	query := r.URL.Query()
	query.Del("access_token")
	query.Del("input_token")
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

// pause waits for the latency.
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
	c := &call{
		method: r.Method, token: bearer(r), query: r.URL.Query(), body: body,
		contentType: r.Header.Get("Content-Type"), host: r.Host,
	}
	c.id, c.edge, _ = strings.Cut(strings.Trim(path, "/"), "/")
	if refused := s.authorize(c); refused != nil {
		return refused
	}
	run := func() *reply { return s.dispatch(r.Context(), c) }
	if f := s.fault("/"+path, c.sends()); f != nil {
		if f.Taken {
			run()
		}
		return f.reply(r.Context(), s.over)
	}
	return run()
}

func bearer(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return r.URL.Query().Get("access_token")
}

// authorize refuses requests without the token of a number.
func (s *Server) authorize(c *call) *reply {
	if c.token == "" {
		r := refuse(104, "An access token is required to request this resource.")
		r.status = http.StatusUnauthorized
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.numbers, func(l Number) bool { return l.AccessToken == c.token }) &&
		!slices.ContainsFunc(s.Pages.known, func(p Page) bool { return p.AccessToken == c.token }) {
		r := refuse(190, "Invalid OAuth access token - Cannot parse access token")
		r.status = http.StatusUnauthorized
		return r
	}
	return nil
}

// sends reports whether the call sends a message.
func (c *call) sends() bool {
	var probe struct {
		Status string `json:"status"`
		Action string `json:"sender_action"`
	}
	return c.method == http.MethodPost && (c.edge == "messages" || c.edge == "marketing_messages") && (json.Unmarshal(c.body, &probe) != nil || probe.Status+probe.Action == "")
}

func (s *Server) dispatch(ctx context.Context, c *call) *reply {
	if answer := s.Pages.answer(c); answer != nil {
		return answer
	}
	if l, ok := s.visible(c.id, c.token); ok {
		if answer := s.number(l, c); answer != nil {
			return answer
		}
		return absent(strings.ToLower(c.method), c.id)
	}
	if c.id == "debug_token" && c.method == http.MethodGet {
		return s.accounts.debugToken(c)
	}
	for _, object := range []func(*call) *reply{s.Files.answer, s.Templates.answer} {
		if answer := object(c); answer != nil {
			return answer
		}
	}
	numbers := slices.DeleteFunc(s.account(c.id), func(l Number) bool { return l.AccessToken != c.token })
	if len(numbers) == 0 {
		return absent(strings.ToLower(c.method), c.id)
	}
	switch c.edge {
	case "subscribed_apps":
		return s.accounts.subscriptions(ctx, numbers[0], c)
	case "message_templates":
		return s.Templates.edge(numbers[0], c)
	case "phone_numbers":
		data := []any{}
		for _, l := range numbers {
			data = append(data, phoneNumber(l, nil).value)
		}
		return ok(map[string]any{"data": data})
	}
	return absent(strings.ToLower(c.method), c.id)
}

// number answers for a phone number; nil if it does not have the edge.
func (s *Server) number(l Number, c *call) *reply {
	if c.method == http.MethodGet {
		switch c.edge {
		case "":
			return phoneNumber(l, c.query)
		case "whatsapp_business_profile":
			return s.accounts.profile(l, c)
		}
		return nil
	}
	if c.method != http.MethodPost {
		return nil
	}
	switch c.edge {
	case "":
		return setNumber(c.body)
	case "messages", "marketing_messages":
		return s.messages.answer(l, c.edge, c.body)
	case "media":
		return s.Files.upload(l, c.contentType, c.body)
	case "register":
		return register(c.body)
	case "whatsapp_business_profile":
		return s.accounts.profile(l, c)
	}
	return nil
}

// visible returns a number that the token may use.
func (s *Server) visible(id, token string) (Number, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.numbers {
		if l.PhoneNumberID == id && l.AccessToken == token {
			return l, true
		}
	}
	return Number{}, false
}
