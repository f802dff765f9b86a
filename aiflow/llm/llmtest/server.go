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

// Server is a script over HTTP: it answers chat completions as OpenAI does and
// messages as Anthropic does, whole or as a stream, lists models, and makes
// embeddings of which alike texts have alike ones. Requests that these
// providers refuse it refuses, too: results without their calls, roles out of
// order, wrong keys. It is safe for concurrent use.
type Server struct {
	script
	// URL is the address, without a path.
	URL string

	http *httptest.Server
	mux  *http.ServeMux
	set  sync.Mutex
	key  string
}

// NewServer starts a server of these steps on a free port of this machine. The
// caller closes it. Asked once more than it has steps, it refuses the request
// as invalid, and [Server.Done] says so.
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

// OpenAI is the address for clients of OpenAI.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the address for clients of Anthropic.
func (s *Server) Anthropic() string { return s.URL }

// ServeHTTP answers a request that came by another way than URL.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// RequireKey refuses all who do not give this key.
func (s *Server) RequireKey(key string) {
	s.set.Lock()
	defer s.set.Unlock()
	s.key = key
}

// wire is how a provider writes.
type wire interface {
	// read understands a request, and whether its answer is streamed.
	read(body []byte) (*llm.Request, stream, error)
	whole(r *llm.Response) any
	// parts are the events of a streamed answer: those behind the middle are
	// left out when it breaks off there.
	parts(r *llm.Response, st stream) (before, after []event)
	// refusal is what an error looks like, alone and in a stream.
	refusal(status int, code llm.Code, message string) any
	broken(body any) event
}

// stream says how an answer is streamed.
type stream struct{ on, usage bool }

// event is one of a stream of server-sent events.
type event struct {
	name string // "": none
	data any    // JSON, or a string as it is
}

// maxRequest is the largest request that is read.
const maxRequest = 64 << 20

func (s *Server) generate(p wire) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
		if err != nil {
			return // the client has gone
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

// play writes what a step says.
func (s *Server) play(w http.ResponseWriter, req *http.Request, p wire, step Step, r *llm.Request, st stream) {
	if step.Body != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(step.Body) // a client that has gone
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
		panic(http.ErrAbortHandler) // which ends the connection without an end
	default:
		send(w, req, after, step.Pause)
	}
}

// send writes events one by one, and says whether the client still listens.
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
		panic(http.ErrAbortHandler) // which ends the connection without an end
	}
	_, _ = w.Write(body) // a client that has gone
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // a client that has gone
}

// refuse answers as a provider does that fails in this way.
func refuse(w http.ResponseWriter, p wire, err error) {
	status, code := statusOf(err)
	var e *llm.Error
	if errors.As(err, &e) && e.After > 0 {
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

// admits says whether the key is right.
func (s *Server) admits(r *http.Request) bool {
	s.set.Lock()
	defer s.set.Unlock()
	given := r.Header.Get("X-Api-Key")
	if given == "" {
		given = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return s.key == "" || given == s.key
}

// list names the models, in the form of the API that was asked.
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

// encode is JSON of values that always have some.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: writing %T: %v", v, err))
	}
	return b
}
