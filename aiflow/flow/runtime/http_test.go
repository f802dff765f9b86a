package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// seen keeps the requests of a server.
type seen struct {
	mu sync.Mutex
	is []*http.Request
}

func (s *seen) add(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is = append(s.is, r)
}

func (s *seen) all() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.is...)
}

// server answers requests and keeps them.
func server(t testing.TB, answer http.HandlerFunc) (*httptest.Server, *seen) {
	t.Helper()
	s := &seen{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		kept := r.Clone(context.Background())
		kept.Body = io.NopCloser(strings.NewReader(string(body)))
		s.add(kept)
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, s
}

// fetched runs a flow of one HTTP node and returns what the node had: the
// response, or an error's code.
func (f *fixture) fetched(t testing.TB, config string) (flow.HTTPResponse, string) {
	t.Helper()
	run := f.begin(t, "", nodes(t, `"r":{"type":"any"},"token":{"type":"string","default":"s3cret"}`, `"first":{"type":"http","config":{`+config+`,"saveTo":"r"},"next":{"out":"end","error":"failed"}},
		"end":{"type":"end","config":{"result":"{{ vars.r }}"}},"failed":{"type":"end","config":{"status":"failed","result":"{{ error.code }}"}}`))
	if run.Status == runtime.Failed {
		var code string
		require.NoError(t, json.Unmarshal(run.Output, &code), "%+v", run.Error)
		return flow.HTTPResponse{}, code
	}
	require.Equal(t, runtime.Completed, run.Status)
	var res flow.HTTPResponse
	require.NoError(t, json.Unmarshal(run.Output, &res))
	return res, ""
}

// onSQLite is a runtime for what does not depend on the database.
func onSQLite(t *testing.T, change func(*runtime.Options)) *fixture {
	t.Helper()
	t.Parallel()
	return running(t, testkit.Open(t, testkit.SQLiteURL(t)), func(o *runtime.Options) {
		alone(o)
		if change != nil {
			change(o)
		}
	})
}

func TestRequests(t *testing.T) {
	f := onSQLite(t, nil)
	srv, got := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		_, _ = io.WriteString(w, `{"n":12345678901,"list":[1,"x",null]}`)
	})
	res, code := f.fetched(t, `"method":"POST","url":"`+srv.URL+`/orders?x=1","query":{"who":"a b&c"},"headers":{"X-Key":"{{ vars.token }}"},
		"body":{"kind":"json","value":{"n":"{{ start.n }}"}}`)
	require.Empty(t, code)
	require.Equal(t, 200, res.Status)
	require.Equal(t, "a, b", res.Headers["x-two"])
	require.Equal(t, map[string]any{"n": 12345678901.0, "list": []any{1.0, "x", nil}}, res.Body)
	r := got.all()[0]
	body, _ := io.ReadAll(r.Body)
	require.JSONEq(t, `{"n":1}`, string(body))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "s3cret", r.Header.Get("X-Key"))
	require.Equal(t, "a b&c", r.URL.Query().Get("who"))
	require.Equal(t, "1", r.URL.Query().Get("x"))
	require.NotEmpty(t, r.Header.Get("Idempotency-Key"))

	_, code = f.fetched(t, `"method":"PUT","url":"`+srv.URL+`","body":{"kind":"multipart","value":{"a":"1","b":"two"}}`)
	require.Empty(t, code)
	r = got.all()[1]
	require.NoError(t, r.ParseMultipartForm(1<<20))
	require.Equal(t, map[string][]string{"a": {"1"}, "b": {"two"}}, r.MultipartForm.Value)
	require.Empty(t, r.Header.Get("Idempotency-Key"), "it may be repeated")
}

func TestResponses(t *testing.T) {
	f := onSQLite(t, nil)
	srv, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, `{"a":1}`)
		case "/text":
			_, _ = io.WriteString(w, "hi \xff there")
		case "/nojson":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a":`)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		case "/slow":
			<-r.Context().Done()
		}
	})
	res, _ := f.fetched(t, `"url":"`+srv.URL+`/json","success":"200-499"`)
	require.Equal(t, http.StatusTeapot, res.Status)
	require.Equal(t, map[string]any{"a": 1.0}, res.Body)
	res, _ = f.fetched(t, `"url":"`+srv.URL+`/text"`)
	require.Equal(t, "hi \uFFFD there", res.Body)
	for path, want := range map[string]string{
		`/nojson"`: "http.bad_body", `/large","maxResponse":"1KiB"`: "http.too_large", `/cut"`: "http.connect", `/slow","timeout":"PT1S"`: "http.timeout",
	} {
		_, code := f.fetched(t, `"url":"`+srv.URL+path)
		require.Equal(t, want, code, path)
	}
	srv.Close()
	_, code := f.fetched(t, `"url":"`+srv.URL+`/text"`)
	require.Equal(t, "http.connect", code)
	run := f.begin(t, "", nodes(t, `"r":{"type":"any"}`, `"first":{"type":"http","config":{"url":"`+srv.URL+`/text","saveTo":"r"},"next":{"out":"end"}},"end":{"type":"end"}`))
	require.Equal(t, runtime.Failed, run.Status)
	require.Equal(t, "The server did not answer: the connection was refused.", run.Error.Message, "no address")
}

func TestPrivateTargets(t *testing.T) {
	var target string
	srv, got := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
	f := onSQLite(t, func(o *runtime.Options) { o.Allow = []string{strings.TrimPrefix(srv.URL, "http://")} })
	secret, reached := server(t, func(http.ResponseWriter, *http.Request) {})
	target = secret.URL
	for _, url := range []string{srv.URL, secret.URL, "http://169.254.169.254/latest/meta-data", "http://[::1]:1/", "http://localhost:1/", "http://0x7f.1/"} {
		_, code := f.fetched(t, `"url":"`+url+`"`)
		require.Equal(t, "http.blocked_host", code, url)
	}
	require.Len(t, got.all(), 1)
	require.Empty(t, reached.all())
}

func TestRedirects(t *testing.T) {
	f := onSQLite(t, func(o *runtime.Options) {
		o.Authorize = func(_ context.Context, acc, credential string, r *http.Request) error {
			if credential != "mine" || acc != account {
				return errors.New("there is none")
			}
			r.Header.Set("X-Token", "credential")
			return nil
		}
	})
	other, elsewhere := server(t, func(http.ResponseWriter, *http.Request) {})
	srv, got := server(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		switch {
		case r.URL.Path == "/other":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case n > 0:
			http.Redirect(w, r, fmt.Sprint("/", n-1), http.StatusFound)
		}
	})
	_, code := f.fetched(t, `"url":"`+srv.URL+`/5","auth":"mine"`)
	require.Empty(t, code)
	require.Len(t, got.all(), 6)
	require.Equal(t, "credential", got.all()[5].Header.Get("X-Token"), "the host is the same")
	_, code = f.fetched(t, `"url":"`+srv.URL+`/6"`)
	require.Equal(t, "http.connect", code)
	_, code = f.fetched(t, `"url":"`+srv.URL+`/other","auth":"mine","headers":{"X-Key":"{{ vars.token }}","Accept":"text/plain"}`)
	require.Empty(t, code)
	r := elsewhere.all()[0]
	require.Empty(t, r.Header.Get("X-Token"))
	require.Empty(t, r.Header.Get("X-Key"))
	require.Equal(t, "text/plain", r.Header.Get("Accept"))
	_, code = f.fetched(t, `"url":"`+srv.URL+`/other","method":"POST","body":{"kind":"text","value":"{{ vars.token }}"}`)
	require.Equal(t, "http.status", code)
	require.Len(t, elsewhere.all(), 1, "a body does not follow")
	_, code = f.fetched(t, `"url":"`+srv.URL+`/0","auth":"another"`)
	require.Equal(t, "http.credential", code)
}

// TestCallers answers calls of other kinds, and those that nobody answers.
func TestCallers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		keys := make(chan string, 10)
		f := running(t, db, func(o *runtime.Options) {
			o.Callers = map[flow.CallKind]runtime.Caller{flow.CallTool: func(_ context.Context, c runtime.Request) (any, error) {
				req := c.Call.Request.(flow.ToolRequest)
				keys <- c.Key
				switch req.Tool {
				case "panics":
					panic("oh")
				case "fails":
					return nil, errors.New("no such tool")
				case "refuses":
					return nil, &flow.Error{Code: "mcp.tool_error", Message: "No."}
				}
				return map[string]any{"said": req.Arguments["text"]}, nil
			}}
		})
		tool := func(name string) runtime.Run {
			return f.begin(t, "", nodes(t, `"r":{"type":"any"}`, `"first":{"type":"tool","config":{"server":"s","tool":"`+name+`","arguments":{"text":"hi"},"saveTo":"r"},"next":{"out":"end"}},
				"end":{"type":"end","config":{"result":"{{ vars.r.said }}"}}`))
		}
		run := tool("echoes")
		require.JSONEq(t, `"hi"`, string(run.Output))
		require.True(t, strings.HasPrefix(<-keys, run.ID+"."))
		require.Equal(t, "effect.failed", tool("panics").Error.Code)
		require.Equal(t, "effect.failed", tool("fails").Error.Code)
		require.Equal(t, "mcp.tool_error", tool("refuses").Error.Code)
		run = f.begin(t, "", nodes(t, ``, `"first":{"type":"assistant","config":{"model":"mock/one","input":"hi"}}`))
		require.Equal(t, "effect.unsupported", run.Error.Code)
	})
}

// TestCall_StoreUnwritable has a caller find the store unwritable, twice: that is no
// answer, and the call is made again.
func TestCall_StoreUnwritable(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var calls atomic.Int32
		f := running(t, db, func(o *runtime.Options) {
			o.Callers = map[flow.CallKind]runtime.Caller{flow.CallAssistant: func(context.Context, runtime.Request) (any, error) {
				if calls.Add(1) <= 2 {
					return nil, fmt.Errorf("keeping what the model said: %w", database.ErrUnwritable)
				}
				return flow.ModelResult{Finish: flow.FinishDone, Text: "Hello"}, nil
			}}
		})
		run := f.begin(t, "", nodes(t, `"r":{"type":"any"}`, `"first":{"type":"assistant","config":{"model":"mock/one","input":"hi","saveTo":"r"},"next":{"out":"end"}},
			"end":{"type":"end","config":{"result":"done"}}`))
		require.Nil(t, run.Error)
		require.EqualValues(t, 3, calls.Load())
	})
}

// TestCall_UncertainStart loses the answer to the commit of the note that a call begins which
// must not be made twice: it was not made, and so it is.
func TestCall_UncertainStart(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		var calls atomic.Int32
		web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
		t.Cleanup(web.Close)
		f := running(t, seen, nil)
		asked.LoseCommits("flow_effect SET started_us", 1)
		_, code := f.fetched(t, `"method":"POST","url":"`+web.URL+`"`)
		require.Empty(t, code)
		require.EqualValues(t, 1, calls.Load())
	})
}

// TestHostileTargets calls what no table could hold as it stands.
func TestHostileTargets(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		for _, host := range []string{strings.Repeat("x", 1900) + ".invalid", "a%FFb.invalid", "%00.invalid", strings.Repeat("%C3%A4", 200) + ".invalid"} {
			_, code := f.fetched(t, `"url":"http://`+host+`/"`)
			require.Contains(t, []string{"http.connect", "http.bad_url", "http.blocked_host"}, code)
		}
	})
}
