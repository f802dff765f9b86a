package simulate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

// lottery draws a branch by the run, and waits.
const lottery = `{"format":"trunkline-flow/1","kind":"flow","slug":"lottery","name":"Lottery","start":"begin","variables":{"secret":{"type":"string","secret":true,"default":"a"},"n":{"type":"integer","default":0}},"nodes":{
	"begin":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"loop"}},
	"loop":{"type":"loop","config":{"kind":"count","times":"2"},"next":{"body":"draw","done":"ask"}},
	"draw":{"type":"random","config":{"branches":[{"id":"a"},{"id":"b"}]},"next":{"a":"add","b":"add"}},
	"add":{"type":"set","config":{"assign":[{"var":"n","op":"increment"}]}},
	"ask":{"type":"question","config":{"prompt":{"text":"Well?"},"timeout":"PT1H"},"next":{"out":"yes","timeout":"no"}},
	"yes":{"type":"message","config":{"text":"You said {{ input.text }}."}},
	"no":{"type":"message","config":{"text":"Too late."}}}}`

func program(t *testing.T, raw string) (*flow.Document, *flow.Program) {
	t.Helper()
	doc, problems := flow.Decode([]byte(raw))
	require.NotNil(t, doc, problems)
	p, problems := node.NewTypes().Compile(doc, nil)
	require.NotNil(t, p, problems)
	return doc, p
}

// TestReplay lives through a past at its times: an answer that came too late
// finds nobody waiting.
func TestReplay(t *testing.T) {
	t.Parallel()
	doc, p := program(t, lottery)
	started := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	past := func(run string, answered time.Duration) simulate.Past {
		return simulate.Past{
			Run: flow.RunInfo{ID: run, StartedAt: started}, Input: map[string]any{"text": "hi"}, Until: started.Add(24 * time.Hour),
			Came: []simulate.Came{{At: started.Add(answered), Input: flow.Reply{Message: map[string]any{"text": "yes"}}}},
		}
	}
	soon, err := simulate.Replay(p, past("one", time.Minute))
	require.NoError(t, err)
	again, err := simulate.Replay(p, past("one", time.Minute))
	require.NoError(t, err)
	d, err := simulate.Compare(doc, soon, doc, again)
	require.NoError(t, err)
	require.True(t, d.Same())

	late, err := simulate.Replay(p, past("one", 2*time.Hour))
	require.NoError(t, err)
	require.Equal(t, []int{0}, late.Untaken)
	d, err = simulate.Compare(doc, soon, doc, late)
	require.NoError(t, err)
	require.Equal(t, []simulate.ChangedStep{
		{At: 8, Step: "ask.out"}, {At: 9, Step: "yes.out"}, {Added: true, At: 8, Step: "ask.timeout"}, {Added: true, At: 9, Step: "no.out"},
	}, d.Path)
	require.Len(t, d.Messages, 2)

	// What is drawn depends on the run.
	drawn := map[string]bool{}
	for _, run := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight"} {
		r, err := simulate.Replay(p, past(run, time.Minute))
		require.NoError(t, err)
		drawn[r.Path()[2]] = true
	}
	require.Len(t, drawn, 2)
	require.Contains(t, soon.Path(), "loop[0] add.out")
	other, err := simulate.Replay(p, past("one", time.Minute))
	require.NoError(t, err)
	other.Session.State.Frames[0].Vars["secret"], other.Session.State.Frames[0].Vars["n"] = "b", 7
	d, err = simulate.Compare(doc, soon, doc, other)
	require.NoError(t, err)
	require.Equal(t, []simulate.ChangedValue{{Name: "n", Before: soon.Session.State.Frames[0].Vars["n"], After: 7}}, d.Variables)
}

// TestReplayCalls answers the calls of a program from the journal: the same
// request first, then what the node asked.
func TestReplayCalls(t *testing.T) {
	t.Parallel()
	const asks = `{"format":"trunkline-flow/1","kind":"flow","slug":"asks","name":"Asks","start":"begin","variables":{"a":{"type":"any"},"b":{"type":"any"},"c":{"type":"any"}},"nodes":{
		"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"first"}},
		"first":{"type":"http","config":{"url":"https://example.com/1","extract":[{"var":"a","path":"response.body"}]},"next":{"out":"second"}},
		"second":{"type":"http","config":{"url":"https://example.com/2","extract":[{"var":"b","path":"response.body"}]},"next":{"out":"third"}},
		"third":{"type":"http","config":{"url":"https://example.com/3","extract":[{"var":"c","path":"response.body"}]},"next":{"error":"end"}},
		"end":{"type":"end","config":{"result":"{{ error.code }}"}}}}`
	_, p := program(t, asks)
	request := func(url string) json.RawMessage {
		raw, err := json.Marshal(flow.HTTPRequest{Method: "GET", URL: url, MaxBytes: 256 << 10})
		require.NoError(t, err)
		return raw
	}
	r, err := simulate.Replay(p, simulate.Past{Calls: []simulate.Recorded{
		{Node: "second", Kind: flow.CallHTTP, Request: request("https://example.com/other"), Result: map[string]any{"status": 200, "body": "other"}},
		{Node: "renamed", Kind: flow.CallHTTP, Request: request("https://example.com/1"), Result: map[string]any{"status": 200, "body": "one"}},
	}})
	require.NoError(t, err)
	require.Equal(t, []simulate.Answered{
		{Node: "first", Kind: flow.CallHTTP, Answer: simulate.AnswerRecorded},
		{Node: "second", Kind: flow.CallHTTP, Answer: simulate.AnswerOther},
		{Node: "third", Kind: flow.CallHTTP, Answer: simulate.AnswerMissing},
	}, r.Calls)
	require.Equal(t, "simulate.no_record", r.Session.State.Ended.Output)
	vars := r.Session.State.Frames[0].Vars
	require.Equal(t, []any{"one", "other"}, []any{vars["a"], vars["b"]})
}

// TestReplayTooLong gives up on what does not end.
func TestReplayTooLong(t *testing.T) {
	t.Parallel()
	_, p := program(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"long","name":"Long","start":"begin","variables":{"n":{"type":"integer","default":0}},"nodes":{
		"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"loop"}},
		"loop":{"type":"loop","config":{"kind":"count","times":"1000","max":1000},"next":{"body":"in"}},
		"in":{"type":"loop","config":{"kind":"count","times":"1000","max":1000},"next":{"body":"add"}},
		"add":{"type":"set","config":{"assign":[{"var":"n","op":"increment"}]}}}}`)
	_, err := simulate.Replay(p, simulate.Past{})
	require.ErrorIs(t, err, simulate.ErrLong)
}
