package runtime_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const cause = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestSpans: a turn is below the message that it takes, a call below its turn,
// the turn that takes the answer below the call, and the one after a delay
// below the one that set it, on whatever node.
func TestSpans(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var there, here testkit.Spans
		srv, _ := server(t, func(http.ResponseWriter, *http.Request) {})
		first := setup(t, db, func(o *runtime.Options) { o.Trace = there.Begin })
		first.shelf.add(t, "mine", nodes(t, ``, `
			"first":{"type":"http","config":{"method":"GET","url":"`+srv.URL+`"},"next":{"out":"wait"}},
			"wait":{"type":"delay","config":{"for":"P1D"},"next":{"out":"end"}},
			"end":{"type":"message","config":{"text":"Good morning."}}`))
		require.NoError(t, first.db.InTx(t.Context(), func(tx *database.Tx) error {
			in := incoming("ana", "hi")
			in.Traceparent = cause
			return first.IncomingTx(span.With(t.Context(), "of another"), tx, in)
		}))
		second := first.successor(t, db, func(o *runtime.Options) { o.Trace = here.Begin }).start(t)
		here.Await(t, "flow.turn", 2)
		second.clock.Advance(25 * time.Hour)
		second.awaitDid(t, "ana", "Good morning.")
		here.Await(t, "flow.turn", 3)
		require.Empty(t, there.Named("flow.turn"))

		turns, calls := here.Named("flow.turn"), here.Named("flow.call")
		require.Len(t, calls, 1)
		require.Equal(t, []string{cause, turns[0].Own, calls[0].Own, turns[1].Own},
			[]string{turns[0].Parent, calls[0].Parent, turns[1].Parent, turns[2].Parent})
		require.Equal(t, []string{"message", "effect", "timer"}, []string{turns[0].Attrs["input"], turns[1].Attrs["input"], turns[2].Attrs["input"]})
		require.Equal(t, []string{runtime.RouteStarted, "", ""}, []string{turns[0].Attrs["route"], turns[1].Attrs["route"], turns[2].Attrs["route"]})
		require.Equal(t, "completed", turns[2].Attrs["status"])
		require.Equal(t, turns[0].Attrs["run"], calls[0].Attrs["run"])
		require.Equal(t, "first", calls[0].Attrs["node"])
		require.Equal(t, "http", calls[0].Attrs["kind"])
	})
}

// preparing is a host that looks at messages first.
type preparing struct {
	*host
	parents chan string
}

func (p preparing) Prepare(ctx context.Context, _ runtime.Incoming) error {
	p.parents <- span.Of(ctx)
	return nil
}

// TestSpanOfPreparing: what the chat service does before is below the turn.
func TestSpanOfPreparing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var spans testkit.Spans
		f := setup(t, db, nil)
		h := preparing{f.host, make(chan string, 1)}
		var err error
		f.Runtime, err = runtime.New(t.Context(), db, h, &runtime.Options{Trace: spans.Begin, Now: f.clock.Now})
		require.NoError(t, err)
		f.Serve(f.shelf)
		f.start(t)
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			in := incoming("ana", "hi")
			in.Prepare = true
			return f.IncomingTx(t.Context(), tx, in)
		}))
		spans.Await(t, "flow.turn", 1)
		turn, prepared := spans.Named("flow.turn")[0], spans.Named("flow.prepare")[0]
		require.Equal(t, turn.Own, prepared.Parent)
		require.Equal(t, prepared.Own, <-h.parents)
		require.Equal(t, runtime.RouteNobody, turn.Attrs["route"])
	})
}
