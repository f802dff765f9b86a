package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// own are types with one's own: x.look looks somebody up, in the open; x.order
// orders, and w counts how often each call of it was made.
func (w *env) own(t testing.TB) *flow.Types {
	t.Helper()
	type person struct {
		Name string `json:"name" required:"true" doc:"Of whom."`
	}
	type order struct {
		Items []struct {
			Name  string `json:"name" required:"true"`
			Count int    `json:"count" default:"1"`
		} `json:"items" required:"true"`
	}
	return owning(t, flow.NodeType{
		Name: "x.look", Text: "Looks somebody up.", Outputs: []flow.Output{{Name: "out"}, {Name: "none"}}, Repeat: true,
		Run: flow.NodeFunc(func(_ context.Context, _ flow.NodeCall, in person) (flow.NodeResult, error) {
			if in.Name == "nobody" {
				return flow.NodeResult{Output: "none"}, nil
			}
			return flow.NodeResult{Value: "/people/" + in.Name}, nil
		}),
	}, flow.NodeType{
		Name: "x.order", Text: "Orders.",
		Run: flow.NodeFunc(func(_ context.Context, c flow.NodeCall, in order) (flow.NodeResult, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.once[c.Key]++
			return flow.NodeResult{Value: map[string]any{"cups": in.Items[0].Count}}, nil
		}),
	})
}

// owning are the built-in types and others.
func owning(t testing.TB, more ...flow.NodeType) *flow.Types {
	t.Helper()
	types := node.NewTypes()
	for _, nt := range more {
		require.NoError(t, types.Register(nt))
	}
	return types
}

// reading is a node type that runs fn, with the member what.
func reading(repeat bool, fn func(context.Context, flow.NodeCall, string) (any, error)) flow.NodeType {
	type config struct {
		What string `json:"what"`
	}
	return flow.NodeType{Name: "x.read", Text: "Reads.", Repeat: repeat, Run: flow.NodeFunc(func(ctx context.Context, c flow.NodeCall, in config) (flow.NodeResult, error) {
		v, err := fn(ctx, c, in.What)
		return flow.NodeResult{Value: v}, err
	})}
}

// reads is a flow with one such node.
func reads(t testing.TB, config string) runtime.Source {
	t.Helper()
	return nodes(t, `"r":{"type":"any"}`, `"first":{"type":"x.read","config":{`+config+`,"saveTo":"r"},"next":{"out":"end"}},"end":{"type":"end","config":{"result":"{{ vars.r }}"}}`)
}

// TestOwnNode runs a function of the program: it is told for whom, its result is
// in the run, and its errors are those of the node.
func TestOwnNode(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		calls := make(chan flow.NodeCall, 1)
		f := running(t, db, func(o *runtime.Options) {
			alone(o)
			o.Authorize = func(_ context.Context, account, credential string, r *http.Request) error {
				r.Header.Set("X-Token", account+"/"+credential)
				return nil
			}
			o.Types = owning(t, reading(false, func(ctx context.Context, c flow.NodeCall, what string) (any, error) {
				switch what {
				case "panics":
					panic("oh")
				case "fails":
					return nil, errors.New("no such thing")
				case "refuses":
					return nil, &flow.Error{Code: "read.refused", Message: "No."}
				case "hangs":
					<-ctx.Done()
					return nil, ctx.Err()
				}
				calls <- c
				req := &http.Request{Header: http.Header{}}
				err := c.Authorize(ctx, "mine", req)
				return map[string]any{"read": what, "token": req.Header.Get("X-Token")}, err
			}))
		})
		run := f.begin(t, "ana", reads(t, `"what":"book {{ start.n }}"`))
		require.Equal(t, runtime.Completed, run.Status, "%+v", run.Error)
		require.JSONEq(t, `{"read":"book 1","token":"acme/mine"}`, string(run.Output))
		c := <-calls
		require.Equal(t, run.ID, c.Run)
		require.Equal(t, "first", c.Node)
		require.Equal(t, account, c.Account)
		require.Equal(t, int64(line), c.Reference)
		require.Equal(t, "ana", c.ChatID)
		require.Equal(t, 1, c.Attempt)
		require.Contains(t, c.Key, run.ID+".")
		d, err := f.acc.Detail(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, "x.read", d.Steps[1].Type)
		require.Equal(t, map[string]any{"what": "book 1"}, d.Steps[1].In)
		require.Equal(t, "out", d.Steps[1].Output)

		for what, code := range map[string]string{"panics": flow.CodeNodeFailed, "fails": flow.CodeNodeFailed, "refuses": "read.refused", "hangs": flow.CodeNodeTimeout} {
			limit := map[bool]string{true: "PT1S", false: "PT60S"}[what == "hangs"]
			run := f.begin(t, "", reads(t, `"what":"`+what+`","timeout":"`+limit+`","retry":{"max":2}`))
			require.Equal(t, runtime.Failed, run.Status, what)
			require.Equal(t, code, run.Error.Code, what)
			_, err := f.acc.Retry(t.Context(), run.ID, false)
			require.ErrorIs(t, err, runtime.ErrRepeat, what)
		}
	})
}

// TestOwnNodeIsTriedAgain repeats what was not done, and what does no harm twice.
func TestOwnNodeIsTriedAgain(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var calls atomic.Int64
		f := running(t, db, func(o *runtime.Options) {
			o.Now = nil
			o.Types = owning(t, reading(false, func(_ context.Context, c flow.NodeCall, code string) (any, error) {
				if calls.Add(1); c.Attempt < 3 {
					return nil, &flow.Error{Code: code, Message: "Not now."}
				}
				return "fine", nil
			}))
		})
		run := f.begin(t, "", reads(t, `"what":"`+flow.CodeNodeUnavailable+`","retry":{"max":2,"delay":"PT0.1S"}`))
		require.Equal(t, runtime.Completed, f.awaitEnd(t, run.ID).Status)
		require.Equal(t, int64(3), calls.Load())
		run = f.begin(t, "", reads(t, `"what":"`+flow.CodeNodeTimeout+`","retry":{"max":2,"delay":"PT0.1S"}`))
		require.Equal(t, runtime.Failed, run.Status)
		require.Equal(t, int64(4), calls.Load())
	})
}

// TestOwnNodeOfStoppedNode stops a node in the middle of two calls: the next
// one repeats that which does no harm.
func TestOwnNodeOfStoppedNode(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		with := func(fn func(context.Context, flow.NodeCall, string) (any, error)) func(*runtime.Options) {
			write := reading(false, fn)
			write.Name = "x.write"
			return func(o *runtime.Options) { o.Types = owning(t, reading(true, fn), write) }
		}
		started := make(chan struct{})
		f := running(t, db, with(func(ctx context.Context, _ flow.NodeCall, _ string) (any, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		src := nodes(t, `"r":{"type":"any"}`, `"first":{"type":"x.read","config":{"what":"it","timeout":"PT300S","saveTo":"r"},"next":{"out":"end"}},
			"end":{"type":"end","config":{"result":"{{ vars.r }}"}}`)
		read, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "o", Version: 1, Source: src})
		require.NoError(t, err)
		write, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "o", Version: 1, Source: document(t, strings.Replace(string(src.Document.Canonical()), "x.read", "x.write", 1))})
		require.NoError(t, err)
		<-started
		<-started
		f.stop()
		g := f.successor(t, db, with(func(context.Context, flow.NodeCall, string) (any, error) { return "fine", nil })).start(t)
		require.JSONEq(t, `"fine"`, string(g.awaitEnd(t, read.ID).Output))
		require.Equal(t, flow.CodeUnknown, g.awaitEnd(t, write.ID).Error.Code)
	})
}

// awaitEnd waits for the end of a run.
func (f *fixture) awaitEnd(t testing.TB, id string) (run runtime.Run) {
	t.Helper()
	f.until(t, func() bool {
		var err error
		run, err = f.acc.Run(t.Context(), id)
		require.NoError(t, err)
		return !run.EndedAt.IsZero()
	})
	return run
}

// TestOwnNodeIsCancelled cancels a run while its call is under way.
func TestOwnNodeIsCancelled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		started, end := make(chan struct{}), make(chan struct{})
		f := running(t, db, func(o *runtime.Options) {
			alone(o)
			o.Types = owning(t, reading(false, func(context.Context, flow.NodeCall, string) (any, error) {
				close(started)
				<-end
				return "late", nil
			}))
		})
		run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "o", Version: 1, Source: reads(t, `"what":"it"`)})
		require.NoError(t, err)
		<-started
		run = f.gives(t, runtime.Cancelled, func() (runtime.Run, error) { return f.acc.Cancel(t.Context(), run.ID, "enough") })
		close(end)
		f.stop()
		run, err = f.acc.Run(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Cancelled, run.Status, "what came too late changes nothing")
	})
}

// TestOwnNodeIsGone has programs without the node type take over: a run that
// waits continues until it comes to the node, a call that was begun fails, and a
// program that has the type again continues with the step.
func TestOwnNodeIsGone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		with := func(o *runtime.Options) {
			o.Types = owning(t, reading(true, func(context.Context, flow.NodeCall, string) (any, error) { return "fine", nil }))
		}
		asking := nodes(t, `"r":{"type":"any"}`, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"say"}},
			"say":{"type":"message","config":{"text":"I look."},"next":{"out":"read"}},
			"read":{"type":"x.read","config":{"what":"it","saveTo":"r"},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"It is {{ vars.r }}."}}`)
		f := running(t, db, with)
		run := f.begin(t, "ana", asking)
		f.awaitDid(t, "ana", "Well?")
		f.stop()

		g := f.successor(t, db, nil).start(t)
		g.say(t, "ana", "yes")
		require.Equal(t, &flow.Error{Code: "unknown.type", Message: "This program has no node type x.read.", Node: "read"}, g.awaitEnd(t, run.ID).Error)
		g.awaitDid(t, "ana", "Well?", "I look.")
		started := g.begin(t, "ben", reads(t, `"what":"it"`)) // published before
		require.Equal(t, "unknown.type", started.Error.Code)
		g.stop()

		h := g.successor(t, db, with).start(t)
		_, err := h.acc.Retry(t.Context(), run.ID, false)
		require.NoError(t, err)
		h.awaitDid(t, "ana", "Well?", "I look.", "It is fine.")
	})
}

// TestOwnNodeReplays replays a run with the results that its calls had.
func TestOwnNodeReplays(t *testing.T) {
	f := onSQLite(t, func(o *runtime.Options) {
		o.Types = owning(t, reading(true, func(context.Context, flow.NodeCall, string) (any, error) { return time.Second, nil }))
	})
	run := f.begin(t, "", reads(t, `"what":"it"`))
	past, err := f.acc.Past(t.Context(), run.ID)
	require.NoError(t, err)
	require.Len(t, past.Calls, 1)
	require.Equal(t, flow.CallNode, past.Calls[0].Kind)
	require.JSONEq(t, `{"type":"x.read","config":{"what":"it"}}`, string(past.Calls[0].Request))
	require.Equal(t, map[string]any{"value": json.Number("1000000000")}, past.Calls[0].Result)
}
