package runtime_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime/runtimetest"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// world answers the calls of scripts and counts them.
type world struct {
	*httptest.Server
	mu   sync.Mutex
	once map[string]int // requests by their idempotency key
}

// newWorld is a world that needs some time for an order.
func newWorld(t testing.TB, slow time.Duration) *world {
	t.Helper()
	w := &world{once: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		if key := req.Header.Get("Idempotency-Key"); key != "" {
			w.mu.Lock()
			w.once[key]++
			w.mu.Unlock()
			<-time.After(slow)
		}
		res.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(res, `{"path":%q}`, req.URL.Path)
	}))
	t.Cleanup(w.Close)
	return w
}

// talker is a fixture as the crash harness sees it.
type talker struct{ *fixture }

func (k talker) Say(t testing.TB, chat, text string)      { k.say(t, chat, text) }
func (k talker) Advance(_ testing.TB, d time.Duration)    { k.clock.Advance(d) }
func (k talker) Wake()                                    { k.Committed() }
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
				t.Parallel()
				w := newWorld(t, 0)
				src := document(t, strings.ReplaceAll(string(s.Flow), "http://world", w.URL))
				var last *fixture
				points := runtimetest.Crash(t, s, func(t testing.TB, first runtimetest.Node, afterCommit func(string)) runtimetest.Node {
					change := func(o *runtime.Options) { o.Exclusive, o.AfterCommit = true, afterCommit }
					if first != nil {
						return talker{first.(talker).successor(t, testkit.Open(t, url), change)}
					}
					last = setup(t, testkit.Open(t, url), change)
					last.shelf.add(t, "scripted", src)
					return talker{last}
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
