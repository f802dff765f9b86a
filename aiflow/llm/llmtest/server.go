package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Server is a script over HTTP. It has the chat completions of OpenAI and the
// messages of Anthropic, with or without streaming, lists models, and computes
// embeddings in which similar texts are similar. It refuses requests that these
// providers refuse: results without calls, roles out of order, wrong keys. It is
// safe for concurrent use.
type Server struct {
	script
	// URL is the address, without a path.
	URL string

	http *httptest.Server
	mux  *http.ServeMux
	set  sync.Mutex
	key  string
}

// NewServer starts a server with steps on a free port of this machine. The caller
// must close it. It refuses a request after the last step as invalid, and
// [Server.Done] reports it.
func NewServer(steps ...Step) *Server {
	s := &Server{script: script{steps: slices.Clone(steps)}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.generate(openAI{}))
	mux.HandleFunc("POST /v1/messages", s.generate(anthropic{}))
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	mux.HandleFunc("GET /v1/models", s.list)
	s.mux, s.http = mux, httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// OpenAI returns the base URL for clients of OpenAI.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic returns the base URL for clients of Anthropic.
func (s *Server) Anthropic() string { return s.URL }

// ServeHTTP answers requests, also from a server of the caller's own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// RequireKey makes the server refuse requests without this key.
func (s *Server) RequireKey(key string) {
	s.set.Lock()
	defer s.set.Unlock()
	s.key = key
}

// wire is the API of a provider.
type wire interface {
	// read parses a request, and whether its answer is streamed.
	read(body []byte) (*llm.Request, stream, error)
	whole(r *llm.Response) any
	// parts returns the events of a streamed answer. If the answer is truncated,
	// the events of after are left out.
	parts(r *llm.Response, st stream) (before, after []event)
	// refusal returns an error, as a response or within a stream.
	refusal(status int, code llm.Code, message string) any
	broken(body any) event
}

// stream describes how an answer is streamed.
type stream struct{ on, usage bool }

// event is a server-sent event.
type event struct {
	name string // "": none
	data any    // JSON, or a string that is written unchanged
}

// maxRequest is the maximum size of a request.
const maxRequest = 64 << 20

func (s *Server) generate(p wire) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
		if err != nil {
			return // the client has disconnected
		}
		if !s.admits(req) {
			write(w, http.StatusUnauthorized, p.refusal(http.StatusUnauthorized, llm.CodeForbidden, "the key is wrong"))
			return
		}
		r, st, err := p.read(body)
		if err != nil {
			write(w, http.StatusBadRequest, p.refusal(http.StatusBadRequest, llm.CodeInvalid, err.Error()))
			return
		}
		step, err := s.next(r)
		if err != nil {
			refuse(w, p, err)
			return
		}
		if think(req.Context(), step.Wait) != nil {
			return
		}
		s.play(w, req, p, step, r, st)
	}
}

// play executes a step.
func (s *Server) play(w http.ResponseWriter, req *http.Request, p wire, step Step, r *llm.Request, st stream) {
	if step.Body != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(step.Body) // the client may have disconnected
		return
	}
	res, err := step.answer(r, "")
	if res == nil {
		if err == nil {
			err = errors.New("the step says nothing")
		}
		refuse(w, p, err)
		return
	}
	s.received(res.Usage)
	if !st.on {
		writeWhole(w, p.whole(res), step.Truncate)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	before, after := p.parts(res, st)
	if !send(w, req, before, step.Pause) {
		return
	}
	switch {
	case err != nil:
		status, code := statusOf(err)
		send(w, req, []event{p.broken(p.refusal(status, code, "it breaks off"))}, 0)
	case step.Truncate:
		panic(http.ErrAbortHandler) // closes the connection without ending the response
	default:
		send(w, req, after, step.Pause)
	}
}

// send writes events one by one. It reports whether the client is still connected.
func send(w http.ResponseWriter, req *http.Request, events []event, pause time.Duration) bool {
	out := http.NewResponseController(w)
	for i, e := range events {
		data, ok := e.data.(string)
		if !ok {
			data = string(encode(e.data))
		}
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return false
		}
		if pause > 0 || i == len(events)-1 {
			if out.Flush() != nil || think(req.Context(), pause) != nil {
				return false
			}
		}
	}
	return true
}

func writeWhole(w http.ResponseWriter, v any, cut bool) {
	body := encode(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if cut {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // closes the connection without ending the response
	}
	_, _ = w.Write(body) // the client may have disconnected
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // the client may have disconnected
}

// refuse writes the error response of a provider.
func refuse(w http.ResponseWriter, p wire, err error) {
	status, code := statusOf(err)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.After > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.After.Seconds())), 10))
		if e.After < time.Second {
			w.Header().Set("Retry-After-Ms", strconv.FormatInt(e.After.Milliseconds(), 10))
		}
	}
	write(w, status, p.refusal(status, code, err.Error()))
}

func statusOf(err error) (int, llm.Code) {
	var e *llm.Error
	if !errors.As(err, &e) {
		return http.StatusInternalServerError, llm.CodeUnavailable
	}
	if e.Status > 0 {
		return e.Status, e.Code
	}
	statuses := map[llm.Code]int{
		llm.CodeRateLimited: http.StatusTooManyRequests, llm.CodeForbidden: http.StatusUnauthorized, llm.CodeNoModel: http.StatusNotFound,
		llm.CodeTooLong: http.StatusBadRequest, llm.CodeFiltered: http.StatusBadRequest, llm.CodeInvalid: http.StatusBadRequest,
		llm.CodeTimeout: http.StatusGatewayTimeout,
	}
	if status := statuses[e.Code]; status > 0 {
		return status, e.Code
	}
	return http.StatusServiceUnavailable, e.Code
}

// admits reports whether the key is right.
func (s *Server) admits(r *http.Request) bool {
	s.set.Lock()
	defer s.set.Unlock()
	given := r.Header.Get("X-Api-Key")
	if given == "" {
		given = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return s.key == "" || given == s.key
}

// list lists the models, in the format of the requested API.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	var p wire = openAI{}
	if r.Header.Get("Anthropic-Version") != "" {
		p = anthropic{}
	}
	if !s.admits(r) {
		write(w, http.StatusUnauthorized, p.refusal(http.StatusUnauthorized, llm.CodeForbidden, "the key is wrong"))
		return
	}
	models := []string{"model-1", "model-2"}
	items := make([]any, len(models))
	for i, name := range models {
		items[i] = map[string]any{
			"id": name, "object": "model", "created": 0, "owned_by": "llmtest",
			"type": "model", "display_name": "Model " + name, "created_at": "2000-01-01T00:00:00Z",
		}
	}
	write(w, http.StatusOK, map[string]any{"object": "list", "data": items, "has_more": false, "first_id": nil, "last_id": nil})
}

// encode encodes values that are always valid JSON.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: writing %T: %v", v, err))
	}
	return b
}
