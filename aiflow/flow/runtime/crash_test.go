package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// script is a conversation, and what comes of it whatever happens to the node
// that has it.
type script struct {
	Flow  json.RawMessage `json:"flow"`
	Steps []struct {
		Send    string   `json:"send"`    // the contact writes
		Advance string   `json:"advance"` // time passes
		Expect  []string `json:"expect"`  // what is done then
		Or      []string `json:"or"`      // what may be done instead, where nobody can know whether a call was made
	} `json:"steps"`
}

func scripts(t testing.TB) map[string]script {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "crash", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string]script{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var s script
		require.NoError(t, json.Unmarshal(raw, &s), path)
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = s
	}
	return out
}

// world answers the calls of scripts and counts them.
type world struct {
	*httptest.Server
	mu   sync.Mutex
	once map[string]int // requests by their idempotency key
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{once: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		if key := req.Header.Get("Idempotency-Key"); key != "" {
			w.mu.Lock()
			w.once[key]++
			w.mu.Unlock()
		}
		res.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(res, `{"path":%q}`, req.URL.Path)
	}))
	t.Cleanup(w.Close)
	return w
}

// TestCrash stops the node that has a conversation after its first commit,
// after its second, and so on: another one takes over, and the contact does
// not notice.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, s := range scripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachURL(t, func(t *testing.T, url string) {
				t.Parallel()
				w := newWorld(t)
				src := document(t, strings.ReplaceAll(string(s.Flow), "http://world", w.URL))
				points := 0
				for at := 1; crash(t, url, src, s, at); at++ {
					points = at
				}
				require.Greater(t, points, 3)
				w.mu.Lock()
				defer w.mu.Unlock()
				for key, n := range w.once {
					require.Equal(t, 1, n, "a call that must not be made twice was: %s", key)
				}
				t.Logf("promise: %s: stopped after each of %d commits: the same messages, none twice, %d calls that must not be repeated, each made at most once",
					t.Name(), points, len(w.once))
			})
		})
	}
}

// crash plays a script in a chat of its own, on a node that dies after its
// at-th commit. It reports whether it died.
func crash(t *testing.T, url string, src runtime.Source, s script, at int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var mu sync.Mutex
	commits := 0
	died, over := make(chan struct{}), make(chan struct{})
	first := setup(t, testkit.Open(t, url), func(o *runtime.Options) {
		o.Exclusive = true
		o.AfterCommit = func(string) {
			mu.Lock()
			commits++
			dies := commits == at
			dead := commits >= at
			mu.Unlock()
			if dies {
				cancel()
				close(died)
			}
			if dead {
				<-over // it does nothing any more until all is done
			}
		}
	})
	first.shelf.add(t, "scripted", src)
	done := make(chan error, 1)
	go func() { done <- first.Run(ctx) }()
	second := first.successor(t, testkit.Open(t, url), func(o *runtime.Options) { o.Exclusive = true })
	after, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		select {
		case <-died:
			ended <- second.Run(after)
		case <-over:
			ended <- nil
		}
	}()
	play(t, first, fmt.Sprint("chat", at), s, func() {
		first.Committed()
		second.Committed()
	})
	close(over)
	cancel()
	end()
	require.NoError(t, errors.Join(<-done, <-ended))
	first.once(t)
	select {
	case <-died:
		return true
	default:
		return false
	}
}

// play has the contact follow the script. awake has the nodes look at the time.
func play(t *testing.T, f *fixture, chat string, s script, awake func()) {
	t.Helper()
	var want, or []string
	for _, step := range s.Steps {
		if step.Advance != "" {
			d, err := time.ParseDuration(step.Advance)
			require.NoError(t, err)
			f.clock.Advance(d)
			awake()
		}
		if step.Send != "" {
			f.say(t, chat, step.Send)
		}
		if step.Or == nil {
			step.Or = step.Expect
		}
		want, or = append(want, step.Expect...), append(or, step.Or...)
		var got []string
		require.Eventually(t, func() bool {
			got = f.did(t, chat)
			return len(got) >= len(want)
		}, patient, 2*time.Millisecond, "%v", want)
		for i := range want {
			require.Contains(t, []string{want[i], or[i]}, got[i], "in %s", chat)
		}
		require.Len(t, got, len(want))
	}
}
