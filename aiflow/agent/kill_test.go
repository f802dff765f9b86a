//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// peer is the world of agents that are killed: the model, and what its tools
// reach. It outlives them, and counts.
type peer struct {
	*httptest.Server
	clerk *clerk
	mu    sync.Mutex
	wrote map[string]int // by the key of the call
}

// slowness is how long everything takes, so that there is something to kill.
const slowness = 15 * time.Millisecond

func newPeer(t testing.TB) *peer {
	t.Helper()
	p := &peer{clerk: newClerk(), wrote: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /model", func(w http.ResponseWriter, r *http.Request) {
		var asked llm.Request
		_ = json.NewDecoder(r.Body).Decode(&asked.Messages)
		answer, _ := p.clerk.Generate(context.WithoutCancel(r.Context()), &asked)
		<-time.After(slowness)
		_ = json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("POST /ship", func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.wrote[r.Header.Get("Idempotency-Key")]++
		p.mu.Unlock()
		<-time.After(slowness)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// far is the model and the tools of an agent whose world is another process.
type far string

func (f far) post(ctx context.Context, path, key string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(f)+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

func (f far) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	var out llm.Response
	return &out, f.post(ctx, "/model", "", r.Messages, &out)
}

func (f far) tools() []llm.Tool {
	var c calls
	find, ship, tidy := c.reading("find"), c.writing("ship"), c.writing("tidy")
	tidy.Idempotent = true
	ship.Call = func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
		return llm.ToolOutput{Content: "shipped"}, f.post(ctx, "/ship", r.Key, nil, nil)
	}
	return []llm.Tool{find, ship, tidy}
}

// childSetting is how a child, this test binary run as a process of its own, has
// agents work.
type childSetting struct{ URL, Peer string }

const (
	childEnv    = "AGENT_CHILD"
	runningLine = "running"
)

// TestChild has agents work. It is the whole of a child process, and nothing in
// any other.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var s childSetting
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	db := testkit.Open(t, s.URL)
	f := setup(t, db, change{
		model: far(s.Peer), tools: far(s.Peer).tools(), runtime: func(o *runtime.Options) { o.Exclusive = db.DriverName() == "sqlite" },
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_, _ = fmt.Println(runningLine)
	require.NoError(t, f.runs.Run(ctx))
}

// TestKill kills the processes in which agents work again and again. No answer
// that is in the journal is asked for again, no write is made twice, and what
// was asked for is in the ledger, or may be.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		kills := testkit.Rounds(3)
		runs := 24 + 6*kills
		p := newPeer(t)
		f := setup(t, testkit.Open(t, url), change{model: far(p.URL), tools: far(p.URL).tools()})
		id := f.publish(t, document(t, config{
			"tools": []string{"find", "ship", "tidy"}, "memory": map[string]any{"scope": "none"},
			"tokenBudget": 1_000_000, // each kill costs what was reserved
		}))
		processes := 2
		if f.db.DriverName() == "sqlite" {
			processes = 1
		}
		var children []*exec.Cmd
		spawn := func() *exec.Cmd {
			text, err := json.Marshal(childSetting{url, p.URL})
			require.NoError(t, err)
			c, _ := testkit.Child(t, "TestChild", runningLine, childEnv+"="+string(text))
			return c
		}
		for range processes {
			children = append(children, spawn())
		}
		var ids []string
		for n := range runs {
			ids = append(ids, f.begin(t, id, fmt.Sprint("chat", n)))
		}
		const done = `SELECT count(*) FROM agent_entry WHERE done_us > 0`
		want := 8 * runs
		for i := range kills {
			started := f.number(t, done)
			require.Eventually(t, func() bool { return f.number(t, done) >= min(want, started+rand.IntN(2+want/(kills+1))) }, patient, tick)
			c := children[i%len(children)]
			require.NoError(t, c.Process.Kill())
			_ = c.Wait()
			children[i%len(children)] = spawn()
		}
		require.Eventually(t, func() bool { return f.number(t, `SELECT count(*) FROM flow_run WHERE ended_us > 0`) == runs }, 3*patient, 10*tick)
		p.holds(t, f, ids)
		t.Logf("promise: %s, killed %d times: %d runs of agents, all ended with their answer; of %d answers asked for, none that was kept was asked for again; "+
			"%d writes, none made twice, %d ended with effect.unknown; the ledger has %d calls of which nobody knows what they took, and reserves it",
			t.Name(), kills, runs, p.asked(), len(p.wrote), f.number(t, `SELECT count(*) FROM agent_entry WHERE kind = 'tool' AND status = 'unknown'`), f.sums(t).Unknown)
	})
}

// begin begins a run without waiting for it.
func (f *fixture) begin(t testing.TB, id, chat string) string {
	t.Helper()
	src, err := f.service.Source(t.Context(), account, id, 1)
	require.NoError(t, err)
	r, err := f.runs.For(account).Start(t.Context(), runtime.Start{
		Engine: flow.EngineFlow, Owner: id, Version: 1, Source: src, Chat: chatOf(chat), Input: map[string]any{"id": "m1", "text": chat},
	})
	require.NoError(t, err)
	return r.ID
}

func (p *peer) asked() (n int) {
	p.clerk.mu.Lock()
	defer p.clerk.mu.Unlock()
	for _, times := range p.clerk.seen {
		n += times
	}
	return n
}

// holds holds what was counted against what the journal and the ledger say.
func (p *peer) holds(t testing.TB, f *fixture, runs []string) {
	t.Helper()
	s := f.sums(t)
	asked := p.asked()
	p.clerk.mu.Lock()
	defer p.clerk.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, run := range runs {
		chat := fmt.Sprint("chat", i)
		require.Equal(t, "Shipped "+chat+".", output(t, f.rest(t, run)))
		require.Equal(t, []string{"Shipped " + chat + "."}, f.said(t, chat))
		kept, started := 0, map[string]int{}
		es, err := f.agents.For(account).Entries(t.Context(), run, "")
		require.NoError(t, err)
		for _, e := range es { // every attempt at an answer is an entry; a kept one ends the attempts
			if e.Kind == "turn" {
				started[fmt.Sprintf("%s %d", chat, 1+2*kept)]++
				if e.Status == "done" {
					kept++
				}
			}
		}
		require.Equal(t, 4, kept)
		for turn, n := range started {
			require.LessOrEqual(t, p.clerk.seen[turn], n, turn)
		}
	}
	for key, n := range p.wrote {
		require.Equal(t, 1, n, "a write was made twice: %s", key)
	}
	require.GreaterOrEqual(t, s.Calls, int64(asked))
	require.GreaterOrEqual(t, s.Input+s.Output+s.Held, p.clerk.usage.Input+p.clerk.usage.Output)
}
