package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// internet answers the calls of a conversation and counts them.
type internet struct {
	*httptest.Server
	mu    sync.Mutex
	given map[string]int // answers by path
	once  map[string]int // requests that must not be repeated, by their key
	calls []string
}

func newInternet(t *testing.T, answers map[string][]webAnswer) *internet {
	t.Helper()
	w := &internet{given: map[string]int{}, once: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		a := w.answer(req, answers[req.URL.Path])
		res.Header().Set("Content-Type", "application/json")
		res.WriteHeader(a.Status)
		_, _ = res.Write(a.Body)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *internet) answer(req *http.Request, answers []webAnswer) webAnswer {
	body, _ := io.ReadAll(req.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, strings.TrimSpace(fmt.Sprintf("%s %s %s", req.Method, req.URL, body)))
	if key := req.Header.Get("Idempotency-Key"); key != "" && req.Method == http.MethodPost {
		w.once[key]++
	}
	n := w.given[req.URL.Path]
	w.given[req.URL.Path]++
	if len(answers) == 0 {
		return webAnswer{Status: http.StatusNotFound}
	}
	return answers[min(n, len(answers)-1)]
}

// requireOnce checks that nothing was done twice that must not be.
func (w *internet) requireOnce(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.once {
		require.Equal(t, 1, n, "a call that must not be repeated was: %s", key)
	}
}

// wordList finds what conversations ask extractors for.
type wordList struct{}

func (wordList) Entities(text string, types []string, _ string, _ time.Time) (map[string]any, error) {
	out := map[string]any{}
	for word := range strings.FieldsSeq(text) {
		if strings.Contains(word, "@") && types[0] == "email" {
			out["email"] = word
		}
	}
	return out, nil
}

func (wordList) Intent(_, text, _ string) ([]flow.Intent, error) {
	if !strings.Contains(text, "order") {
		return nil, nil
	}
	return []flow.Intent{{ID: "order", Confidence: 0.9}, {ID: "other", Confidence: 0.1}}, nil
}

// wallClock is a clock that tests set.
type wallClock struct {
	mu sync.Mutex
	at time.Time
}

// newWallClock begins on a Monday morning.
func newWallClock() *wallClock { return &wallClock{at: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)} }

func (c *wallClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *wallClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
