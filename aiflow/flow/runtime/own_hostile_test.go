package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// TestOwnNodeMisbehaves has functions give back what no journal can hold: their
// run ends with an error, and the calls of others continue.
func TestOwnNodeMisbehaves(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		long := strings.Repeat("é", 1<<20)
		var none *flow.Error
		answers := map[string]struct {
			value any
			err   error
			code  string
		}{
			"a detail that is no number":     {err: &flow.Error{Code: "read.odd", Message: "Odd.", Detail: map[string]any{"ratio": math.NaN()}}, code: "read.odd"},
			"a detail that is no JSON":       {err: &flow.Error{Code: "read.odd", Message: "Odd.", Detail: map[string]any{"c": make(chan int)}}, code: "read.odd"},
			"a detail of 2 MiB":              {err: &flow.Error{Code: "read.odd", Message: "Odd.", Detail: map[string]any{"body": long}}, code: "read.odd"},
			"an error without a code":        {err: &flow.Error{Message: "Odd."}, code: flow.CodeNodeFailed},
			"an error that is nil":           {err: none, code: flow.CodeNodeFailed},
			"a text of 2 MiB":                {err: errors.New(long), code: flow.CodeNodeFailed},
			"a text that is none":            {err: errors.New("a\x00b\xff"), code: flow.CodeNodeFailed},
			"a value that is no JSON":        {value: json.RawMessage(`{`), code: flow.CodeNodeFailed},
			"a value that is nested":         {value: json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), code: "value.too_large"},
			"a value with the character NUL": {value: "a\x00b"},
			"nothing":                        {},
		}
		f := running(t, db, func(o *runtime.Options) {
			o.Types = owning(t, reading(false, func(_ context.Context, _ flow.NodeCall, what string) (any, error) {
				return answers[what].value, answers[what].err
			}))
		})
		for what, want := range answers {
			run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "o", Version: 1, Source: reads(t, `"what":"`+what+`"`)})
			require.NoError(t, err, what)
			run = f.awaitEnd(t, run.ID)
			if want.code == "" {
				require.Equal(t, runtime.Completed, run.Status, "%s: %+v", what, run.Error)
				continue
			}
			require.Equal(t, runtime.Failed, run.Status, what)
			require.Equal(t, want.code, run.Error.Code, what)
			require.LessOrEqual(t, len(run.Error.Message), 4<<10, what)
			raw, err := json.Marshal(run.Error.Detail)
			require.NoError(t, err, what)
			require.LessOrEqual(t, len(raw), 64<<10, what)
		}
	})
}

// TestOwnNodeTakesMarkup gives a function texts that JSON writes longer than
// they are.
func TestOwnNodeTakesMarkup(t *testing.T) {
	f := onSQLite(t, func(o *runtime.Options) {
		o.Types = owning(t, reading(true, func(_ context.Context, _ flow.NodeCall, what string) (any, error) { return len(what), nil }))
	})
	src := nodes(t, `"r":{"type":"any"},"text":{"type":"string","default":"`+strings.Repeat("<", 60_000)+`"}`,
		`"first":{"type":"x.read","config":{"what":"{{ vars.text }}","saveTo":"r"},"next":{"out":"end"}},"end":{"type":"end","config":{"result":"{{ vars.r }}"}}`)
	run := f.begin(t, "", src)
	require.Equal(t, runtime.Completed, run.Status, "%+v", run.Error)
	require.Equal(t, "60000", string(run.Output))
}

// TestOwnNodesWaitApart has a node type that is slow keep none of another waiting.
func TestOwnNodesWaitApart(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	f := onSQLite(t, func(o *runtime.Options) {
		o.Types = owning(t, reading(true, func(context.Context, flow.NodeCall, string) (any, error) {
			close(started)
			<-end
			return nil, nil
		}))
	})
	run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "o", Version: 1, Source: reads(t, `"what":"it"`)})
	require.NoError(t, err)
	<-started
	var subscribers []string
	require.NoError(t, f.db.SelectContext(t.Context(), &subscribers, `SELECT subscriber FROM queue_partition WHERE queue = 'call'`))
	close(end)
	require.Len(t, subscribers, 1)
	require.Contains(t, subscribers[0], "/node/x.read#")
	f.awaitEnd(t, run.ID)
}
