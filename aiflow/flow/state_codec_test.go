package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// tagged is a state without its methods, which encodes by its tags.
type tagged flow.State

// The hand-written code encodes and decodes states as the tags say.
func TestStateIsAsItsTagsSay(t *testing.T) {
	t.Parallel()
	for _, st := range stages(t) {
		s := read(t, st.state)
		raw, err := json.Marshal((*tagged)(s))
		require.NoError(t, err)
		require.JSONEq(t, string(raw), string(st.state))
		again := read(t, raw)
		require.Equal(t, s, again)
		require.JSONEq(t, string(raw), marshal(t, again))
	}
	whole := flow.State{
		Hash: "h", Turns: 1, Steps: 2, Rows: 3, Serial: 4, Start: map[string]any{"a": 1.5}, Input: map[string]any{"b": "ä\u2028<"}, Next: "N", Timeouts: 5,
		Frames: []flow.Frame{
			{Vars: map[string]any{"v": nil}, Args: map[string]any{"w": []any{true}}, Error: &flow.Error{Code: "c", Message: "m", Node: "n", Attempt: 2, Detail: map[string]any{"d": 9007199254740993}}, Caught: true},
			{Node: "L", Loop: &flow.Loop{Index: 1, Count: -1, Items: []any{1, "x"}, Failed: true}},
			{Node: "C", Function: "f", Vars: map[string]any{"z": "\x7f\b\t"}, Deadline: goldenNow, Timer: "7"},
		},
		Wait:   &flow.Wait{Kind: flow.WaitReply, Node: "Q", ID: "1", Timer: "2", Until: goldenNow, Event: "e", Reply: true, Data: map[string]any{"k": []any{1, 2.5}}, Tries: 3, Once: true, Parts: []string{"a", "\"b"}},
		Ended:  &flow.Ending{Status: flow.StatusFailed, Output: []any{1}, Error: &flow.Error{Code: "x"}, Jump: &flow.Jump{ID: "1", Flow: "o", Input: map[string]any{"i": 2}}},
		Failed: &flow.Failure{Node: "H", At: goldenNow, Call: "k", Tries: 2, Once: true}, Retries: 3,
		Said:   []flow.Said{{Sum: 4294967295, Count: 2, Since: 1772445600}},
		Recent: "A B",
	}
	byTags, err := json.Marshal((*tagged)(&whole))
	require.NoError(t, err)
	require.JSONEq(t, string(byTags), marshal(t, &whole))
	require.Equal(t, &whole, read(t, byTags))
}

func TestStateThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, `[]`, `"x"`, `{"hash":1}`, `{"turns":"x"}`, `{"turns":1.5}`, `{"start":[]}`, `{"input":{"a":}}`, `{"wait":{"until":"soon"}}`, `{"frames":[{"vars":7}]}`,
		`{"input":{"a":1e999}}`, `{"input":{"a":nul}}`, `{"ended":{"status":7}}`, `{"input":{"a" 1}}`, `{"input":{"a":[1 2]}}`, `{"input":{"a":"\x"}}`,
	} {
		var s flow.State
		require.Error(t, s.UnmarshalJSON([]byte(raw)), raw)
	}
	var s flow.State
	require.NoError(t, s.UnmarshalJSON([]byte(" { \"hash\" : \"h\" , \"start\" : { } , \"wait\" : null,\"new\":{}, \"input\":{ \"a\" : [ 1 , -2.5e1, [ ] ] } }\n")))
	require.Equal(t, map[string]any{"a": []any{1, -25, []any{}}}, s.Input)
}
