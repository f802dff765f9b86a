package simulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

// TestParseTests reads what can be played as its own UnmarshalJSON does, and
// names the place of what cannot.
func TestParseTests(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "booking.json"))
	require.NoError(t, err)
	var file struct{ Tests json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &file))
	tests, err := simulate.ParseTests(file.Tests)
	require.NoError(t, err)
	d, p, loose := booking(t)
	require.Len(t, tests, len(loose))
	r, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	require.True(t, r.Passed)

	step := func(s string) string { return `[{"name":"x","steps":[` + s + `]}]` }
	for tests, path := range map[string]string{
		`{}`: "", `null`: "", `[`: "", `[] []`: "", "[\"\xff\"]": "", `[null]`: "[0]", `[7]`: "[0]", `[{"name":" "}]`: "[0].name",
		`[{"name":"` + strings.Repeat("x", 201) + `"}]`:         "[0].name",
		`[{"name":"x","given":{"now":"0001-02-01T00:00:00Z"}}]`: "[0].given.now",
		`[{"name":"x","given":{"mocks":[{},{"kind":"x"}]}}]`:    "[0].given.mocks[1].kind",
		step(`null`): "[0].steps[0]", step(`{"expect":{}}`): "[0].steps[0].expect", step(`{"cancel":false}`): "[0].steps[0]",
		step(`{"handoff":"x"}`): "[0].steps[0].handoff", step(`{"event":{}}`): "[0].steps[0].event.name",
		step(`{"expect":{"did":"x"}}`): "[0].steps[0].expect.did", step(`{"expect":{"waits":"x"}}`): "[0].steps[0].expect.waits",
		step(`{"send":null}`): "[0].steps[0]", step(`{"advance":"-PT1H"}`): "[0].steps[0].advance",
	} {
		_, err := simulate.ParseTests([]byte(tests))
		var bad *simulate.Invalid
		require.ErrorAs(t, err, &bad, tests)
		require.Equal(t, path, bad.Path, tests)
		require.NotEmpty(t, bad.Message)
	}
}

// TestExactNumbers has a number that no float holds come through a session.
func TestExactNumbers(t *testing.T) {
	t.Parallel()
	_, p, _ := booking(t)
	g, err := simulate.ParseGiven([]byte(`{"input":{"order":9007199254740993}}`))
	require.NoError(t, err)
	s, _, err := simulate.Start(p, g)
	require.NoError(t, err)
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	s, err = simulate.ParseSession(raw)
	require.NoError(t, err)
	require.Equal(t, "9007199254740993", fmt.Sprint(s.State.Start["order"]))
}

// TestTooManyTimers refuses a session that would take long.
func TestTooManyTimers(t *testing.T) {
	t.Parallel()
	_, p, _ := booking(t)
	s, _, err := simulate.Start(p, simulate.Given{})
	require.NoError(t, err)
	s.Timers = make([]flow.SetTimer, 1001)
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	_, err = simulate.ParseSession(raw)
	var bad *simulate.Invalid
	require.ErrorAs(t, err, &bad)
	require.Equal(t, ".timers", bad.Path)
}

// TestTestsEnd bounds what all tests together may do.
func TestTestsEnd(t *testing.T) {
	t.Parallel()
	d, p := compiled(t, []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"t","variables":{"n":{"type":"integer","default":0}},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"each"}},
		"each":{"type":"loop","config":{"kind":"count","times":"900","max":1000},"next":{"body":"set","done":"ask"}},
		"set":{"type":"set","config":{"assign":[{"var":"n","op":"increment","value":1}]}},
		"ask":{"type":"question","config":{"prompt":{"text":"More?"}},"next":{"out":"each"}}}}`))
	one := simulate.Test{Name: "more", Steps: []simulate.Step{{Expect: &simulate.Expect{Rest: true}}, {Send: &simulate.Message{"text": "yes"}}, {Expect: &simulate.Expect{Rest: true, Waits: flow.WaitReply}}}}
	tests := make([]simulate.Test, 20)
	for i := range tests {
		tests[i] = one
	}
	r, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	require.True(t, r.Tests[0].Passed, r.Tests[0].Failure)
	last := r.Tests[len(tests)-1]
	require.False(t, last.Passed)
	require.Contains(t, last.Failure.Message, "10000 steps")
}

// FuzzParse has whatever is taken from outside continue, and be written again.
func FuzzParse(f *testing.F) {
	d, p, tests := booking(f)
	s, _, err := simulate.Start(p, tests[0].Given)
	require.NoError(f, err)
	raw, err := json.Marshal(s)
	require.NoError(f, err)
	f.Add(string(raw))
	f.Add(`[{"name":"x","given":{"mocks":[{"times":-1}]},"steps":[{"advance":"PT1H"},{"expect":{"data":{"a":1}}}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if tests, err := simulate.ParseTests([]byte(text)); err == nil {
			_, err = simulate.Run(d, p, tests)
			require.NoError(t, err)
		}
		s, err := simulate.ParseSession([]byte(text))
		if err != nil {
			return
		}
		for _, step := range []simulate.Step{{Send: &simulate.Message{"text": "Monday"}}, {Advance: "P90D"}, {Handoff: "closed"}, {Cancel: true}} {
			if r, err := s.Happen(p, step); err == nil {
				_, err = json.Marshal([]any{s, r})
				require.NoError(t, err)
			}
		}
	})
}
