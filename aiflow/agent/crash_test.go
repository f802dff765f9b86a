package agent_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// clerk is a model that goes by what it was told alone, so that it says the same
// whoever asks: it looks an order up twice, ships it, and answers. It remembers
// what it was asked.
type clerk struct {
	mu    sync.Mutex
	seen  map[string]int // how often it was asked after so many messages, by what it was asked first
	usage llm.Usage
}

func newClerk() *clerk { return &clerk{seen: map[string]int{}} }

func (c *clerk) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	said := r.Messages[0].Text()
	m := llm.Assistant("Shipped " + said + ".")
	switch len(r.Messages) {
	case 1:
		m = llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{order("1", "find", said), order("2", "find", "not "+said)}}
	case 3:
		m = llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{order("3", "ship", said)}}
	case 5:
		m = llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{order("4", "tidy", said)}}
	}
	u := llm.Usage{Known: true, Input: r.Estimate(), Output: m.Estimate()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[fmt.Sprintf("%s %d", said, len(r.Messages))]++
	c.usage.Input += u.Input
	c.usage.Output += u.Output
	return &llm.Response{Message: m, Stop: llm.StopTools, Usage: u, Provider: "script", Model: r.Model}, nil
}

// TestCrash stops the node on which an agent works after its first commit, after
// its second, and so on: another continues with what was done.
func TestCrash(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		unknown := 0
		for at := 1; ; at++ {
			died, lost := crash(t, url, at)
			unknown += lost
			if !died {
				t.Logf("promise: %s: stopped after each of %d commits: no answer that was kept was asked for again, no write was made twice; %d calls ended with effect.unknown",
					t.Name(), at-1, unknown)
				break
			}
		}
	})
}

// crash reports whether the node has made so many commits, and so died, and how
// many calls nobody knows the end of.
func crash(t *testing.T, url string, at int) (bool, int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	over, died := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	n := 0
	commit := func(string) {
		mu.Lock()
		n++
		if n == at {
			cancel()
			close(died)
		}
		dead := n >= at
		mu.Unlock()
		if dead {
			<-over // nothing follows from this commit
		}
	}
	model := newClerk()
	var made shop
	open := func(afterCommit func(string)) *fixture {
		return setup(t, testkit.Open(t, url), change{
			model: model, tools: made.tools(),
			agent:   func(o *agent.Options) { o.AfterCommit = afterCommit },
			runtime: func(o *runtime.Options) { o.Exclusive, o.AfterCommit = true, afterCommit },
		})
	}
	first, second := open(commit), open(func(string) {})
	before := second.sums(t)
	id := second.publish(t, document(t, config{"tools": []string{"find", "ship", "tidy"}, "memory": map[string]any{"scope": "none"}}))
	done, ended := make(chan error, 1), make(chan error, 1)
	go func() { done <- first.runs.Run(ctx) }()
	after, end := context.WithCancel(context.WithoutCancel(t.Context()))
	defer end()
	chat := fmt.Sprint("chat", at)
	go func() {
		select {
		case <-died:
			ended <- second.runs.Run(after)
		case <-over:
			ended <- nil
		}
	}()
	started := second.start(t, id, chat, chat)
	d := second.rest(t, started.ID)
	require.Equal(t, "Shipped "+chat+".", output(t, d))
	require.Equal(t, []string{"Shipped " + chat + "."}, second.said(t, chat))
	unknown := requireCompleted(t, second, model, &made, before, d.ID)
	close(over)
	cancel()
	end()
	require.NoError(t, <-done)
	require.NoError(t, <-ended)
	select {
	case <-died:
		return true, unknown
	default:
		return false, unknown
	}
}

// shop has the tools that a clerk uses, and counts what each was called with.
type shop struct{ find, ship, tidy calls }

func (s *shop) tools() []llm.Tool {
	tidy := s.tidy.writing("tidy")
	tidy.Idempotent = true
	return []llm.Tool{s.find.reading("find"), s.ship.writing("ship"), tidy}
}

// requireCompleted holds a run that a crash has interrupted against its promises, and
// counts the calls nobody knows the end of.
func requireCompleted(t *testing.T, f *fixture, model *clerk, made *shop, before sums, run string) (unknown int) {
	t.Helper()
	after := f.sums(t)
	lost := int(after.Unknown - before.Unknown)
	model.mu.Lock()
	defer model.mu.Unlock()
	require.LessOrEqual(t, lost, 1)
	asked := 0
	for turn, n := range model.seen {
		require.LessOrEqual(t, n, 1+lost, turn)
		asked += n
	}
	require.GreaterOrEqual(t, asked, 4)
	require.LessOrEqual(t, asked, 4+lost, "an answer that was kept was asked for again")
	require.GreaterOrEqual(t, after.Input+after.Output+after.Held-before.Input-before.Output-before.Held, model.usage.Input+model.usage.Output)

	es, err := f.agents.For(account).Entries(t.Context(), run, "")
	require.NoError(t, err)
	kept := map[string]int{}
	for _, e := range es {
		kept[e.Kind+" "+e.Tool+" "+e.Status]++
		if e.Kind == "tool" && e.Status == "unknown" {
			unknown++
		}
	}
	require.Equal(t, 4, kept["turn  done"])
	require.Equal(t, 2, kept["tool find done"])
	require.Equal(t, 1, kept["tool tidy done"])
	require.Equal(t, 1, kept["tool ship done"]+kept["tool ship unknown"])
	require.LessOrEqual(t, len(made.ship.all()), 1)
	for _, repeatable := range []*calls{&made.find, &made.tidy} {
		keys := slices.Clone(repeatable.keys)
		slices.Sort(keys)
		require.LessOrEqual(t, len(keys), len(slices.Compact(slices.Clone(keys)))+2, "more was repeated than what was under way")
	}
	return unknown
}
