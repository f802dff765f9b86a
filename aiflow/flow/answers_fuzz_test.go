package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

var expects = []string{"text", "integer", "number", "phone", "email", "url", "date", "time", "datetime", "boolean", "choice", "any"}

// FuzzAnswer reads any text as any kind of value. It must not panic, and reading
// the value again must yield the same.
func FuzzAnswer(f *testing.F) {
	programs := make([]*flow.Program, len(expects))
	states := make([]*flow.State, len(expects))
	for i, expect := range expects {
		config := map[string]any{"expect": expect, "retries": 0, "saveTo": "answer"}
		if expect == "choice" {
			config["choices"] = []any{map[string]any{"id": "red", "title": "Red wine"}, map[string]any{"id": "b", "title": "Beer", "synonyms": []any{"Bier"}}}
		}
		programs[i] = nodes(f, map[string]any{"A": nodeOf("question", config)}, map[string]any{"variables": map[string]any{"answer": map[string]any{"type": "any"}}})
		turn, err := programs[i].Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(f, err)
		states[i] = turn.State
	}
	for i, said := range []string{"hi", "1,234.5", "1.234,5", "0151 12345678", "ada@example.com.", "example.com", "21/11/26", "9 am", "tomorrow 9h30", "yes", "red win", "٣٦"} {
		f.Add(uint(i), said, "de-DE")
	}
	f.Fuzz(func(t *testing.T, which uint, said, locale string) {
		i := which % uint(len(expects))
		w := goldenWorld(map[string]any{"phone": "4915112345678", "language": locale})
		understand := func(said string) (any, bool) {
			turn, err := programs[i].Step(states[i], flow.Reply{Message: map[string]any{"text": said}}, w)
			require.NoError(t, err)
			row, _ := json.Marshal(turn.Trace)
			require.NotContains(t, string(row), "panicked")
			return turn.State.Frames[0].Vars["answer"], turn.Trace[0].Output == "out"
		}
		v, ok := understand(said)
		s, isText := v.(string)
		if !ok || !isText {
			return
		}
		again, ok := understand(s)
		require.True(t, ok, "%q was understood as %q", said, s)
		require.Equal(t, s, again)
	})
}
