package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// TestRepeatable stops a node in the middle of calls of tools: the next one
// repeats that of a tool which says of itself that it may be, and no other.
func TestRepeatable(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var started atomic.Int64
		var begins testsignal.Signal
		change := func(answer func(context.Context) (any, error)) func(*runtime.Options) {
			return func(o *runtime.Options) {
				o.Callers = map[flow.CallKind]runtime.Caller{flow.CallTool: func(ctx context.Context, _ runtime.Request) (any, error) { return answer(ctx) }}
				o.Repeatable = func(_ context.Context, c runtime.Request) bool {
					return c.Call.Request.(flow.ToolRequest).Tool == "read"
				}
			}
		}
		f := running(t, db, change(func(ctx context.Context) (any, error) {
			started.Add(1)
			begins.Send()
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		tool := func(name, idempotency string) {
			f.shelf.add(t, name+idempotency, document(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"trigger","nodes":{
				"trigger":{"type":"trigger","config":{"on":[{"kind":"keyword","keywords":["`+name+idempotency+`"]}]},"next":{"out":"first"}},
				"first":{"type":"tool","config":{"server":"s","tool":"`+name+`","idempotency":"`+idempotency+`","timeout":"PT300S"},"next":{"out":"end","error":"lost"}},
				"end":{"type":"message","config":{"text":"done"}},"lost":{"type":"message","config":{"text":"{{ error.code }}"}}}}`))
		}
		want := map[string]string{"readauto": "done", "writeauto": "effect.unknown", "readonce": "effect.unknown", "writesafe": "done"}
		tool("read", "auto")
		tool("write", "auto")
		tool("read", "once")
		tool("write", "safe")
		for name := range want {
			f.say(t, name, name)
		}
		testkit.Until(t, []*testsignal.Signal{&begins}, func() bool { return started.Load() == int64(len(want)) })
		f.stop()
		g := f.successor(t, db, change(func(context.Context) (any, error) { return "fine", nil })).start(t)
		for name, text := range want {
			g.awaitDid(t, name, text)
		}
	})
}

// TestSafeErrors repeats a call that got no answer if the tool may be called
// again, and one that must not be made twice only if nobody heard it.
func TestSafeErrors(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var calls atomic.Int64
		f := running(t, db, func(o *runtime.Options) {
			o.Now = nil
			o.Callers = map[flow.CallKind]runtime.Caller{flow.CallTool: func(_ context.Context, c runtime.Request) (any, error) {
				if calls.Add(1); c.Call.Attempt < 3 {
					e := &flow.Error{Code: flow.CodeMCPTimeout, Message: "No answer."}
					if c.Call.Request.(flow.ToolRequest).Tool == "read" {
						e.Detail = map[string]any{"safe": true}
					}
					return nil, e
				}
				return "fine", nil
			}}
		})
		tool := func(name string) runtime.Run {
			calls.Store(0)
			return f.begin(t, "", nodes(t, ``, `"first":{"type":"tool","config":{"server":"s","tool":"`+name+`","retry":{"max":3,"delay":"PT0.1S"}},"next":{"out":"end"}},"end":{"type":"end"}`))
		}
		run := tool("read")
		f.until(t, func() bool {
			now, err := f.acc.Run(t.Context(), run.ID)
			require.NoError(t, err)
			return now.Status == runtime.Completed
		})
		require.Equal(t, int64(3), calls.Load())
		run = tool("write")
		require.Equal(t, runtime.Failed, run.Status)
		require.Equal(t, flow.CodeMCPTimeout, run.Error.Code)
		require.Equal(t, int64(1), calls.Load())
		_, err := f.acc.Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrRepeat)
		run = f.begin(t, "", nodes(t, ``, `"first":{"type":"tool","config":{"server":"s","tool":"read"},"next":{"out":"end"}},"end":{"type":"end"}`))
		require.Equal(t, runtime.Failed, run.Status)
		_, err = f.acc.Retry(t.Context(), run.ID, false)
		require.NoError(t, err, "it may be called again")
	})
}
