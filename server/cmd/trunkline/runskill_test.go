package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	runsKilled = 500 // runs that are under way when a server is killed
	runPause   = 2 * time.Second
	// runsTimeout is how long runs of a test may take after the last kill.
	runsTimeout = 4 * time.Minute
)

// shop is what runs call. It counts the orders that must not be made twice.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	orders map[string]int
	looks  int
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{orders: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if r.Method == http.MethodPost {
			s.orders[r.URL.Path]++
		} else {
			s.looks++
		}
		s.mu.Unlock()
		<-time.After(20 * time.Millisecond) // so that a kill finds calls under way
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fmt.Sprintf(`{"path":%q}`, r.URL.Path))
	}))
	t.Cleanup(s.Close)
	return s
}

// ordered returns how many orders were made.
func (s *shop) ordered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.orders)
}

// working returns the documents of a flow that works in rounds of a loop, in each
// of which a function looks something up, orders it once and waits.
func (s *shop) working() (function, flow string) {
	const step = `{"format":"trunkline-flow/1","kind":"function","slug":"work","name":"Work","start":"look",
		"args":{"n":{"type":"integer"},"i":{"type":"integer"}},"returns":{"cell":{"type":"string"}},"variables":{"r":{"type":"object"},"cell":{"type":"string"}},"nodes":{
		"look":{"type":"http","config":{"url":"%[1]s/look/{{ args.n }}/{{ args.i }}","timeout":"PT60S","retry":{"max":5},"saveTo":"r"},"next":{"out":"keep"}},
		"keep":{"type":"set","config":{"assign":[{"var":"cell","value":"{{ vars.r.body.path }}"}]},"next":{"out":"order"}},
		"order":{"type":"http","config":{"method":"POST","url":"%[1]s/order/{{ args.n }}/{{ args.i }}","timeout":"PT60S","saveTo":"r"},"next":{"out":"ordered","error":"lost"}},
		"ordered":{"type":"set","config":{"assign":[{"var":"cell","value":"{{ vars.cell }} {{ vars.r.body.path }}"}]},"next":{"out":"rest"}},
		"lost":{"type":"set","config":{"assign":[{"var":"cell","value":"{{ vars.cell }} {{ error.code }}"}]},"next":{"out":"rest"}},
		"rest":{"type":"delay","config":{"for":"PT%[2]dS"},"next":{"out":"give"}},
		"give":{"type":"return","config":{"value":{"cell":"{{ vars.cell }}"}}}}}`
	const whole = `{"format":"trunkline-flow/1","kind":"flow","slug":"works","name":"Works","start":"t","variables":{"all":{"type":"list"},"one":{"type":"object"}},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"begin"}},
		"begin":{"type":"delay","config":{"for":"PT%dS"},"next":{"out":"each"}},
		"each":{"type":"loop","config":{"kind":"count","times":"start.rounds","max":1000,"collect":{"var":"all","value":"vars.one.cell"}},"next":{"body":"work","done":"end"}},
		"work":{"type":"call","config":{"function":"work","args":{"n":"{{ start.n }}","i":"{{ index }}"},"saveTo":"one","timeout":"P1D"}},
		"end":{"type":"end","config":{"result":"{{ vars.all }}"}}}}`
	return fmt.Sprintf(step, s.URL, int(runPause/time.Second)), fmt.Sprintf(whole, int(runPause/time.Second))
}

// publish makes and publishes a flow of a project.
func (r *env) publish(t *testing.T, project, draft string) string {
	t.Helper()
	id := r.call(t, 201, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"F","draft":%s}`, project, draft))["id"].(string)
	r.call(t, 200, "POST", "/aiflow/flow/"+id+"/publish", "")
	return id
}

// startRuns begins runs, several at a time, and returns their ids by number.
func (r *env) startRuns(t *testing.T, flow string, rounds int) []string {
	t.Helper()
	ids := make([]string, runsKilled)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for n := w; n < runsKilled; n += 16 {
				status, run, err := r.try(t.Context(), "POST", "/aiflow/run", fmt.Sprintf(`{"flowId":%q,"input":{"n":%d,"rounds":%d}}`, flow, n, rounds))
				if err == nil && status == 201 {
					ids[n], _ = run["id"].(string)
				}
			}
		})
	}
	wg.Wait()
	require.NotContains(t, ids, "")
	return ids
}

// active reports whether runs of a flow are under way.
func (r *env) active(t *testing.T, flow string) bool {
	t.Helper()
	for _, status := range []string{"running", "waiting"} {
		if len(r.call(t, 200, "GET", "/aiflow/run?limit=1&flowId="+flow+"&status="+status, "")["items"].([]any)) > 0 {
			return true
		}
	}
	return false
}

// TestKillRuns kills the server again and again while 500 runs are in the
// middle of loops, waits and calls: each ends with the output that it would
// have had.
func TestKillRuns(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		r, s := newEnv(t), newShop(t)
		args := r.args(database...)
		n := launch(t, args...)
		r.balancer.open(n)
		r.signUp(t)
		project := r.call(t, 201, "POST", "/aiflow/project", `{"name":"Works"}`)["id"].(string)
		function, whole := s.working()
		r.publish(t, project, function)
		flow := r.publish(t, project, whole)
		kills := testkit.Rounds(3)
		rounds := 2 + kills/3
		ids := r.startRuns(t, flow, rounds)
		killed := 0
		for range kills {
			before := s.ordered()
			require.Eventually(t, func() bool { return s.ordered() > before || !r.active(t, flow) }, runsTimeout, 10*time.Millisecond)
			pass(t, rand.N(maxUptime))
			if r.active(t, flow) {
				killed++
			}
			n.kill()
			r.balancer.open()
			n = launch(t, args...)
			r.balancer.open(n)
		}
		last := time.Now()
		require.Eventually(t, func() bool { return !r.active(t, flow) }, runsTimeout*time.Duration(1+kills/20), 200*time.Millisecond)
		elapsed := time.Since(last)
		unknown := 0
		for i, id := range ids {
			unknown += r.checkRun(t, i, id, rounds)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for path, times := range s.orders {
			require.Equal(t, 1, times, "%s was ordered again", path)
		}
		t.Logf("promise: %s: killed %d times while runs were under way (of %d): %d runs of %d rounds ended with the output that they would have had, the last %.1f s after the last start; "+
			"%d orders that must not be repeated: none was, %d of them ended with effect.unknown; %d looks, of which %d were repeats; no wait was shorter than %s",
			t.Name(), killed, kills, len(ids), rounds, elapsed.Seconds(), len(s.orders), unknown, s.looks, s.looks-len(ids)*rounds, runPause)
		n.terminate(t)
	})
}

// checkRun checks what a run gave back and how long it waited. It returns how
// many orders it knows nothing of.
func (r *env) checkRun(t *testing.T, n int, id string, rounds int) (unknown int) {
	t.Helper()
	run := r.call(t, 200, "GET", "/aiflow/run/"+id, "")
	require.Equal(t, "completed", run["status"], "%v", run["error"])
	raw, err := json.Marshal(run["output"])
	require.NoError(t, err)
	var cells []string
	require.NoError(t, json.Unmarshal(raw, &cells))
	require.Len(t, cells, rounds)
	for i, cell := range cells {
		looked := fmt.Sprintf("/look/%d/%d", n, i)
		if cell == looked+" effect.unknown" {
			unknown++
			continue
		}
		require.Equal(t, fmt.Sprintf("%s /order/%d/%d", looked, n, i), cell)
	}
	waits := 0
	for _, it := range run["steps"].([]any) {
		step := it.(map[string]any)
		if step["node"] == "rest" {
			waits++
			require.GreaterOrEqual(t, step["durationMs"], float64(runPause.Milliseconds()), "a timer came early")
		}
	}
	require.Positive(t, waits)
	return unknown
}
