package simulate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

func compiled(t testing.TB, raw []byte) (*flow.Document, *flow.Program) {
	t.Helper()
	d, problems := flow.Decode(raw)
	require.NotNil(t, d, "%v", problems)
	p, problems := node.NewTypes().Compile(d, nil)
	require.NotNil(t, p, "%v", problems)
	return d, p
}

// booking is a flow with its tests.
func booking(t testing.TB) (d *flow.Document, p *flow.Program, tests []simulate.Test) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "booking.json"))
	require.NoError(t, err)
	var file struct {
		Flow  json.RawMessage `json:"flow"`
		Tests []simulate.Test `json:"tests"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	d, p = compiled(t, file.Flow)
	return d, p, file.Tests
}

func TestTests(t *testing.T) {
	t.Parallel()
	d, p, tests := booking(t)
	r, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	for _, o := range r.Tests {
		require.Nil(t, o.Failure, "%s: %+v", o.Name, o.Failure)
		require.NotEmpty(t, o.Trace)
	}
	require.True(t, r.Passed)
	require.Empty(t, r.Coverage.MissingNodes)
	require.Equal(t, []string{"booked.error"}, r.Coverage.MissingOutputs)
	require.Equal(t, 4, r.Coverage.Nodes["ask"])
	require.Equal(t, 1, r.Coverage.Outputs["ask.timeout"])
	require.Equal(t, 3, r.Coverage.Outputs["ask.out"])
	require.NotContains(t, r.Coverage.Nodes, "note")

	refused := tests[0]
	refused.Name, refused.Given.Refuse = "refused", []simulate.Refusal{{Node: "booked", Error: flow.Error{Code: "channel.window_closed"}}}
	refused.Steps = append(refused.Steps[:8:8], simulate.Step{Expect: &simulate.Expect{Ended: flow.StatusFailed, Output: "channel.window_closed"}})
	r, err = simulate.Run(d, p, append(tests, refused))
	require.NoError(t, err)
	require.True(t, r.Passed, "%+v", r.Tests[3].Failure)
	require.Empty(t, r.Coverage.MissingOutputs)
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"missingOutputs":[]`)
}

// TestFailures has each kind of expectation fail, with words that say why.
func TestFailures(t *testing.T) {
	t.Parallel()
	d, p, _ := booking(t)
	for steps, want := range map[string]string{
		`[{"expect":"What?"}]`:                                                 `Expected the text "What?", but it was "Which day, Ana?".`,
		`[]`:                                                                   `Unexpected: the message "Which day, Ana?" of ask.`,
		`[{"expect":{"contains":"night"}}]`:                                    `Expected a text with "night", but it was "Which day, Ana?".`,
		`[{"expect":{"matches":"^day"}}]`:                                      `Expected a text that matches "^day", but it was "Which day, Ana?".`,
		`[{"expect":{"matches":"("}}]`:                                         "The regular expression is wrong: error parsing regexp: missing closing ): `(`",
		`[{"expect":{"did":"handoff","node":"desk"}}]`:                         `Expected handoff desk, but it was the message "Which day, Ana?" of ask.`,
		`[{"expect":{"data":{"text":"x"}}}]`:                                   `Expected {"text":"x"}, but it was {"type":"text","text":"Which day, Ana?"}`,
		`[{"expect":{"rest":true}},{"expect":"More?"}]`:                        `Expected something else to happen, but nothing did: it waits at ask for reply.`,
		`[{"expect":{"rest":true,"waits":"timer"}}]`:                           `Expected the run to wait for timer: it waits at ask for reply.`,
		`[{"expect":{"rest":true,"ended":"completed"}}]`:                       `Expected the run to have ended as completed: it waits at ask for reply.`,
		`[{"expect":{"rest":true}},{"send":"Sunday"},{"expect":{"output":1}}]`: `Expected the output 1, but it was "simulate.no_mock"`,
		`[{"expect":{"rest":true}},{"send":"Sunday"},{"expect":{"vars":{"day":"Monday"}}}]`:               `Expected the variables {"day":"Monday"}, but they were {"day":"Sunday","free":null}`,
		`[{"expect":{"rest":true}},{"event":{"name":"paid"}}]`:                                            `The run does not wait for this event: it waits at ask for reply.`,
		`[{"expect":{"rest":true}},{"handoff":"closed"}]`:                                                 `The run does not wait for this event: it waits at ask for reply.`,
		`[{"expect":{"rest":true}},{"advance":"1h"}]`:                                                     `step.advance must be an ISO 8601 duration, for example PT1H`,
		`[{"expect":{"rest":true}},{}]`:                                                                   `step must have one event`,
		`[{"expect":{"rest":true}},{"cancel":true},{"expect":{"error":"x"}}]`:                             `Expected the error x: it ended as cancelled.`,
		`[{"expect":{"rest":true}},{"send":"Sunday"},{"send":"again"}]`:                                   `The run does not wait for this event: it ended as failed with simulate.no_mock: No mock answers this call. Add one to given.mocks.`,
		`[{"expect":{"rest":true}},{"advance":"PT3H"},{"expect":"Are you there?"},{"expect":"Goodbye."}]`: `Expected the text "Goodbye.", but it was "Which day, Ana?".`,
	} {
		var test simulate.Test
		require.NoError(t, json.Unmarshal([]byte(`{"name":"t","given":{"contact":{"name":"Ana"}},"steps":`+steps+`}`), &test))
		r, err := simulate.Run(d, p, []simulate.Test{test})
		require.NoError(t, err)
		require.False(t, r.Passed, steps)
		require.Equal(t, want, r.Tests[0].Failure.Message, steps)
	}
	var unknown simulate.Test
	require.Error(t, json.Unmarshal([]byte(`{"steps":[{"expect":{"txt":"x"}}]}`), &unknown))
	_, err := simulate.Run(d, p, make([]simulate.Test, simulate.MaxTests+1))
	var many *simulate.TooMany
	require.ErrorAs(t, err, &many)
	_, err = simulate.Run(d, p, []simulate.Test{{Steps: make([]simulate.Step, simulate.MaxSteps+1)}})
	require.ErrorAs(t, err, &many)
}

// TestSessionTravels writes a session and reads it back between all actions,
// as whoever asks over HTTP does.
func TestSessionTravels(t *testing.T) {
	t.Parallel()
	_, p, tests := booking(t)
	s, r, err := simulate.Start(p, tests[0].Given)
	require.NoError(t, err)
	travel := func() {
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		s = &simulate.Session{}
		require.NoError(t, json.Unmarshal(raw, s))
	}
	require.Len(t, r.Did, 1)
	travel()
	r, err = s.Advance(p, 90*time.Minute)
	require.NoError(t, err)
	require.Len(t, r.Did, 2)
	require.Equal(t, simulate.Begin.Add(time.Hour), r.Did[0].At)
	require.Equal(t, simulate.Begin.Add(90*time.Minute), s.Now)
	travel()
	_, err = s.Give(p, flow.HandoffClosed{})
	require.ErrorIs(t, err, flow.ErrNotWaiting)
	travel()
	r, err = s.Give(p, flow.Reply{Message: map[string]any{"type": "text", "text": "Monday"}})
	require.NoError(t, err)
	require.Equal(t, flow.StatusCompleted, s.State.Ended.Status)
	require.Equal(t, simulate.DidCall, r.Did[0].Kind)
	require.Equal(t, []any{"guest"}, s.Given.Contact["tags"])
	travel()
	_, err = s.Give(p, flow.Cancel{})
	require.ErrorIs(t, err, flow.ErrNotWaiting)
	_, err = (&simulate.Session{}).Give(p, flow.Cancel{})
	require.ErrorIs(t, err, flow.ErrNotWaiting)
}

func TestEndlessFlowsStop(t *testing.T) {
	t.Parallel()
	_, p := compiled(t, []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"t","variables":{"n":{"type":"integer","default":0}},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"set"}},
		"set":{"type":"set","config":{"assign":[{"var":"n","op":"increment","value":1}]},"next":{"out":"set2"}},
		"set2":{"type":"set","config":{"assign":[{"var":"n","op":"increment","value":1}]},"next":{"out":"set"}}}}`))
	s, _, err := simulate.Start(p, simulate.Given{})
	if err != nil {
		require.ErrorIs(t, err, simulate.ErrEndless)
		return
	}
	require.Equal(t, flow.StatusFailed, s.State.Ended.Status, "the guards of the language ended it")
	require.Equal(t, "run.steps", s.State.Ended.Error.Code)
}

// FuzzSession has anybody's session continue.
func FuzzSession(f *testing.F) {
	_, p, tests := booking(f)
	s, _, err := simulate.Start(p, tests[0].Given)
	require.NoError(f, err)
	raw, err := json.Marshal(s)
	require.NoError(f, err)
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, text string) {
		s := &simulate.Session{}
		if json.Unmarshal([]byte(text), s) != nil {
			return
		}
		_, _ = s.Give(p, flow.Reply{Message: map[string]any{"text": "Monday"}})
		_, _ = s.Advance(p, time.Hour)
	})
}
