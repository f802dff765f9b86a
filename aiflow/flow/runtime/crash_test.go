package runtime_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime/runtimetest"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// env answers the calls of scripts and counts them.
type env struct {
	*httptest.Server
	mu   sync.Mutex
	once map[string]int // calls that must not be made twice, by their keys
}

// newWorld is a world that needs some time for an order, and answers /fail/418
// with that status.
func newWorld(t testing.TB, slow time.Duration) *env {
	t.Helper()
	w := &env{once: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		if key := req.Header.Get("Idempotency-Key"); key != "" {
			w.mu.Lock()
			w.once[key]++
			w.mu.Unlock()
			<-time.After(slow)
		}
		res.Header().Set("Content-Type", "application/json")
		if status, err := strconv.Atoi(strings.TrimPrefix(req.URL.Path, "/fail/")); err == nil {
			res.WriteHeader(status)
		}
		_, _ = fmt.Fprintf(res, `{"path":%q}`, req.URL.Path)
	}))
	t.Cleanup(w.Close)
	return w
}

// models answer calls as what they are asked says.
func models() map[flow.CallKind]runtime.Caller {
	asked := func(_ context.Context, c runtime.Request) (any, error) {
		req, is := c.Call.Request.(flow.ModelRequest)
		if !is || req.Input == "error" {
			return nil, &flow.Error{Code: "llm.broken", Message: "It is broken."}
		}
		if agent := req.Agent; agent != nil && agent.Approved == nil && req.Input == string(flow.FinishApproval) {
			return flow.ModelResult{Finish: flow.FinishApproval, Tool: "refund"}, nil
		}
		return flow.ModelResult{Finish: flow.Finish(req.Input), Text: "It is " + req.Input, Value: map[string]any{"found": req.Input}}, nil
	}
	return map[flow.CallKind]runtime.Caller{
		flow.CallAssistant: asked, flow.CallAgent: asked, flow.CallExtract: asked,
		flow.CallTool: func(_ context.Context, c runtime.Request) (any, error) {
			if req, is := c.Call.Request.(flow.ToolRequest); is && req.Tool != "error" {
				return map[string]any{"did": req.Tool}, nil
			}
			return nil, &flow.Error{Code: "mcp.tool", Message: "It is broken."}
		},
	}
}

// talker is a fixture as the crash harness sees it.
type talker struct {
	*fixture
	commits []*testsignal.Signal // of both nodes
}

func (k talker) Say(t testing.TB, chat, text string) { k.say(t, chat, text) }

// Advance lets time pass once all that was begun is done.
func (k talker) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	testkit.Until(t, k.commits, func() bool {
		var busy int
		require.NoError(t, k.raw.GetContext(t.Context(), &busy, `SELECT (SELECT count(*) FROM flow_input) + (SELECT count(*) FROM flow_effect e
			JOIN flow_run r ON r.seq = e.run WHERE e.done_us = 0 AND r.ended_us = 0)`))
		return busy == 0
	})
	k.clock.Advance(d)
}

func (k talker) Publish(t testing.TB, name string) {
	t.Helper()
	n, err := k.acc.Publish(t.Context(), flow.Event{Name: name})
	require.NoError(t, err)
	require.Equal(t, 1, n, "runs that wait for %s", name)
}
func (k talker) Notify()                                  { k.Runtime.Notify() }
func (k talker) Shows(t testing.TB, chat string) []string { return k.did(t, chat) }

// TestCrash stops the node that has a conversation after its first commit,
// after its second, and so on: another one takes over, and the contact does
// not notice.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, s := range runtimetest.Scripts(t, filepath.Join("testdata", "crash")) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachURL(t, func(t *testing.T, url string) {
				w := newWorld(t, 0)
				src := document(t, strings.ReplaceAll(string(s.Flow), "http://world", w.URL))
				for _, raw := range s.Functions {
					src.Functions = append(src.Functions, document(t, strings.ReplaceAll(string(raw), "http://world", w.URL)).Document)
				}
				var last *fixture
				living, dying := testkit.Open(t, url), testkit.Open(t, url)
				commits := []*testsignal.Signal{testkit.CommitsOf(t, living), testkit.CommitsOf(t, dying)}
				points := runtimetest.Crash(t, s, func(t testing.TB, first runtimetest.Node, afterCommit func(string)) runtimetest.Node {
					change := func(o *runtime.Options) {
						o.Exclusive, o.AfterCommit, o.Callers, o.Types = true, afterCommit, models(), w.own(t)
					}
					if first != nil {
						return talker{first.(talker).successor(t, living, change), commits}
					}
					last = setup(t, dying, change)
					last.shelf.add(t, "scripted", src)
					return talker{last, commits}
				})
				require.Greater(t, points, 3)
				last.once(t)
				w.mu.Lock()
				defer w.mu.Unlock()
				for key, n := range w.once {
					require.Equal(t, 1, n, "a call that must not be made twice was: %s", key)
				}
				t.Logf("promise: %s: stopped after each of %d commits: the same messages, none twice; %d calls that must not be repeated, each made at most once",
					t.Name(), points, len(w.once))
			})
		})
	}
}
