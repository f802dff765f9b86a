//go:build unix

package assistant_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// Environment of a child, which is this test binary as a separate process.
const (
	childDatabase = "ASSISTANT_CHILD_DATABASE"
	childModel    = "ASSISTANT_CHILD_MODEL"
	childReady    = "ready"
)

// process is what one process has.
type process struct {
	*assistant.Service
	usage  *usage.Ledger
	memory *memory.Service
}

func open(t *testing.T, database, model string) process {
	t.Helper()
	db := testkit.Open(t, database)
	log := slog.New(slog.DiscardHandler)
	require.NoError(t, memory.Migrate(t.Context(), db))
	require.NoError(t, usage.Migrate(t.Context(), db))
	var p process
	var err error
	p.usage, err = usage.New(t.Context(), db, &usage.Options{Logger: log})
	require.NoError(t, err)
	p.memory, err = memory.New(t.Context(), db, &memory.Options{Logger: log})
	require.NoError(t, err)
	fake, err := openai.New(&openai.Options{BaseURL: model, Key: "k"})
	require.NoError(t, err)
	models, err := llm.NewModels(map[string]llm.Model{"openai": fake})
	require.NoError(t, err)
	p.Service, err = assistant.New(models, &assistant.Options{Ledger: p.usage, Memory: p.memory, Logger: log})
	require.NoError(t, err)
	return p
}

func question(text, key string) runtime.Request {
	return runtime.Request{
		Run:  runtime.Run{ID: "run", Owner: "flow", Chat: runtime.Chat{Account: account, Reference: 7, Key: "7:1", ID: "ana@sandbox"}},
		Call: flow.Call{Kind: flow.CallAssistant, Request: flow.ModelRequest{Model: "openai/m", Input: text, MaxTokens: 100, Memory: chatMemory()}},
		Key:  key,
	}
}

// TestChild asks a model and is killed while it waits. It is the whole of a
// child process, and nothing in any other.
func TestChild(t *testing.T) {
	database := os.Getenv(childDatabase)
	if database == "" {
		return
	}
	p := open(t, database, os.Getenv(childModel))
	_, _ = fmt.Println(childReady)
	_, err := p.Answer(t.Context(), question("Who am I?", "run.2"))
	require.NoError(t, err)
}

// TestKilledWhileItAsks kills a process while its model thinks. The call is in
// the ledger with the most that it can have taken, and nothing in memory; asked
// again, it answers, and remembers it once.
func TestKilledWhileItAsks(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, database string) {
		fake := llmtest.NewServer(
			llmtest.Say("Hello Ana!"),
			llmtest.Step{Response: llmtest.Say("Ana.").Response, Wait: time.Hour},
			llmtest.Say("You are Ana."), llmtest.Say("Yes."),
		)
		t.Cleanup(fake.Close)
		p := open(t, database, fake.OpenAI())
		_, err := p.Answer(t.Context(), question("I am Ana", "run.1"))
		require.NoError(t, err)

		child, _ := testkit.Child(t, "TestChild", childReady, childDatabase+"="+database, childModel+"="+fake.OpenAI())
		require.Eventually(t, func() bool { return fake.Count().Requests == 2 }, 2*time.Minute, time.Millisecond)
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()

		out, err := p.Answer(t.Context(), question("Who am I?", "run.2"))
		require.NoError(t, err)
		require.Equal(t, "You are Ana.", out.(*flow.ModelResult).Text)
		_, err = p.Answer(t.Context(), question("Sure?", "run.3"))
		require.NoError(t, err)
		var results []string
		requests := fake.Requests()
		for _, m := range requests[len(requests)-1].Messages {
			results = append(results, m.Text())
		}
		require.Equal(t, []string{"I am Ana", "Hello Ana!", "Who am I?", "You are Ana.", "Sure?"}, results)

		page, err := p.usage.For(account).Detail(t.Context(), usage.Filter{To: time.Now().Add(time.Hour)}, usage.List{})
		require.NoError(t, err)
		require.Len(t, page.Items, 4)
		var input, output, unknown int64
		for _, r := range page.Items {
			input += r.Input
			output += r.Output
			if r.Cost.Status == usage.CostUnknown {
				unknown += r.Reserved
			}
		}
		require.Positive(t, unknown)
		count := fake.Count().Usage
		require.GreaterOrEqual(t, input+output+unknown, count.Input+count.Output, "the ledger has all that the provider counts")
	})
}
