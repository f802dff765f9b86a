package flow_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// story takes turns of a run whose state is encoded and decoded between them.
type story struct {
	p     *flow.Program
	w     flow.World
	state []byte
}

func (s *story) step(t testing.TB, in flow.Input) (*flow.Turn, error) {
	t.Helper()
	var state *flow.State
	if s.state != nil {
		state = read(t, s.state)
	}
	turn, err := s.p.Step(state, in, s.w)
	if err == nil {
		s.state = []byte(marshal(t, turn.State))
	}
	return turn, err
}

// asks returns the call that a turn makes.
func asks(t testing.TB, turn *flow.Turn) flow.Call {
	t.Helper()
	for _, e := range turn.Effects {
		if c, is := e.(flow.Call); is {
			return c
		}
	}
	t.Fatalf("the turn makes no call: %s", marshal(t, turn.State))
	return flow.Call{}
}

// posting returns a loop with a function that posts, in another loop.
func posting(t testing.TB, method string) *story {
	t.Helper()
	p := calling(t, map[string]any{
		"A": nodeOf("loop", map[string]any{"kind": "count", "times": "2", "collect": map[string]any{"var": "out", "value": "index + 10"}}, "body", "B", "done", "E"),
		"B": nodeOf("call", map[string]any{"function": "post", "timeout": "PT1H", "args": map[string]any{"i": "{{ index }}"}}),
		"E": nodeOf("end", map[string]any{"result": "{{ vars.out }}"}),
	}, nil, functionDoc("post", map[string]any{
		"F": nodeOf("loop", map[string]any{"kind": "count", "times": "2", "index": "j"}, "body", "P", "done", "R"),
		"P": nodeOf("http", map[string]any{"method": method, "url": "https://example.org/{{ args.i }}/{{ j }}"}),
		"R": nodeOf("return", map[string]any{}),
	}, map[string]any{"args": map[string]any{"i": map[string]any{"type": "integer"}}}))
	return &story{p: p, w: goldenWorld(nil)}
}

// TestRetry fails a run in a loop of a function in a loop, and continues it there.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := posting(t, "GET")
	turn, err := s.step(t, flow.Begin{})
	require.NoError(t, err)
	ok := func(id string) flow.Input { return flow.EffectDone{ID: id, Result: flow.HTTPResponse{Status: 200}} }
	for range 2 {
		turn, err = s.step(t, ok(asks(t, turn).ID))
		require.NoError(t, err)
	}
	failed := asks(t, turn)
	turn, err = s.step(t, flow.EffectDone{ID: failed.ID, Result: flow.HTTPResponse{Status: 500}})
	require.NoError(t, err)
	require.Equal(t, flow.StatusFailed, turn.State.Ended.Status)
	require.Equal(t, "P", turn.State.Failed.Node)
	require.False(t, turn.State.Failed.Once)
	_, err = s.step(t, flow.Continue{})
	require.ErrorIs(t, err, flow.ErrNotWaiting)

	s.w.Now = s.w.Now.Add(48 * time.Hour) // far beyond the time of the function
	turn, err = s.step(t, flow.Retry{})
	require.NoError(t, err)
	require.Nil(t, turn.State.Ended)
	require.Equal(t, []string{"A[1]", "call:post", "F[0]"}, turn.Trace[0].Path)
	require.Equal(t, 1, turn.Trace[0].Retry)
	again := asks(t, turn)
	require.Equal(t, failed.Key, again.Key)
	require.Equal(t, failed.Attempt+1, again.Attempt)
	require.Equal(t, failed.Request, again.Request)
	for range 2 {
		turn, err = s.step(t, ok(asks(t, turn).ID))
		require.NoError(t, err)
	}
	require.Equal(t, flow.StatusCompleted, turn.State.Ended.Status, marshal(t, turn.State))
	require.JSONEq(t, `[10,11]`, marshal(t, turn.State.Ended.Output))
	_, err = s.step(t, flow.Retry{})
	require.ErrorIs(t, err, flow.ErrNotWaiting)
}

// TestRetryOnce checks that a call which must not be made twice is repeated only on
// request, unless it certainly did not reach the other side.
func TestRetryOnce(t *testing.T) {
	t.Parallel()
	for code, seen := range map[string]bool{
		flow.CodeUnknown: true, flow.CodeHTTPTimeout: true, flow.CodeHTTPConnect: false, flow.CodeHTTPAuth: false,
	} {
		s := posting(t, "POST")
		turn, err := s.step(t, flow.Begin{})
		require.NoError(t, err)
		first := asks(t, turn)
		turn, err = s.step(t, flow.EffectDone{ID: first.ID, Err: &flow.Error{Code: code}})
		require.NoError(t, err)
		require.Equal(t, seen, turn.State.Failed.Once, code)
		turn, err = s.step(t, flow.Retry{})
		if seen {
			require.ErrorIs(t, err, flow.ErrNotWaiting)
			turn, err = s.step(t, flow.Retry{Repeat: true})
		}
		require.NoError(t, err)
		require.Equal(t, first.Key, asks(t, turn).Key)
		turn, err = s.step(t, flow.EffectDone{ID: asks(t, turn).ID, Err: &flow.Error{Code: code}})
		require.NoError(t, err, "it fails again")
		require.Equal(t, 2, turn.State.Failed.Tries)
		require.Equal(t, 1, turn.State.Retries)
	}
}

// TestRetryOfWhatWasTurnedAway repeats a call that the server has refused to start.
func TestRetryOfWhatWasTurnedAway(t *testing.T) {
	t.Parallel()
	for status, seen := range map[int]bool{429: false, 503: false, 500: true, 400: true} {
		s := posting(t, "POST")
		turn, err := s.step(t, flow.Begin{})
		require.NoError(t, err)
		turn, err = s.step(t, flow.EffectDone{ID: asks(t, turn).ID, Result: flow.HTTPResponse{Status: status}})
		require.NoError(t, err)
		require.Equal(t, seen, turn.State.Failed.Once, status)
	}
}

// TestRetryOfWhatCannotGoOn refuses to retry runs that did not end with an error.
func TestRetryOfWhatCannotGoOn(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"completed", "failed", "cancelled"} {
		s := &story{w: goldenWorld(nil), p: calling(t, map[string]any{"A": nodeOf("end", map[string]any{"status": end})}, nil)}
		turn, err := s.step(t, flow.Begin{})
		require.NoError(t, err)
		require.Nil(t, turn.State.Failed)
		_, err = s.step(t, flow.Retry{Repeat: true})
		require.ErrorIs(t, err, flow.ErrNotWaiting)
	}
	var s flow.State
	require.NoError(t, json.Unmarshal([]byte(`{"hash":"x","ended":{"status":"failed"}}`), &s))
	require.Nil(t, s.Failed)
}
