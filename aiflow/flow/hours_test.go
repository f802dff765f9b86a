package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

func TestDelayWindow(t *testing.T) {
	t.Parallel()
	window := func(from, to string, days ...any) map[string]any {
		return map[string]any{"from": from, "to": to, "days": append([]any{}, days...), "tz": "Europe/Berlin"}
	}
	for _, test := range []struct {
		name   string
		window map[string]any
		now    string
		want   string
	}{
		{"inside", window("09:00", "18:00"), "2026-03-02T10:00:00Z", "2026-03-02T10:00:01Z"},
		{"before", window("12:00", "18:00"), "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"},
		{"after", window("09:00", "10:00"), "2026-03-02T10:00:00Z", "2026-03-03T08:00:00Z"},
		{"other days", window("09:00", "18:00", "sat", "sun"), "2026-03-02T10:00:00Z", "2026-03-07T08:00:00Z"},
		{"the same day next week", window("09:00", "10:00", "mon"), "2026-03-02T10:00:00Z", "2026-03-09T08:00:00Z"},
		{"over midnight, before it", window("22:00", "02:00", "mon"), "2026-03-02T22:00:00Z", "2026-03-02T22:00:01Z"},
		{"over midnight, after it", window("22:00", "02:00", "mon"), "2026-03-03T00:30:00Z", "2026-03-03T00:30:01Z"},
		{"over midnight, too late", window("22:00", "02:00", "mon"), "2026-03-03T01:30:00Z", "2026-03-09T21:00:00Z"},
		{"all day", window("00:00", "00:00", "tue"), "2026-03-02T10:00:00Z", "2026-03-02T23:00:00Z"},
		{"when clocks go forward", window("02:30", "04:00", "sun"), "2026-03-28T20:00:00Z", "2026-03-29T01:30:00Z"},
		{"when they go back", window("09:00", "18:00", "sun"), "2026-10-24T20:00:00Z", "2026-10-25T08:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"for": "PT1S", "window": test.window})})
			w := goldenWorld(nil)
			var err error
			w.Now, err = time.Parse(time.RFC3339, test.now)
			require.NoError(t, err)
			w.Run.StartedAt = w.Now
			turn, err := p.Step(nil, flow.Begin{}, w)
			require.NoError(t, err)
			require.Equal(t, test.want, turn.State.Wait.Until.UTC().Format(time.RFC3339))
		})
	}
}

func TestDelayThatCannotBe(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"P200D": "for: must be a duration from PT1S to P90D",
		"soon":  "for: must be a duration from PT1S to P90D",
	} {
		p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"for": "{{ input.for }}"})})
		turn, err := p.Step(nil, flow.Begin{Input: map[string]any{"for": config}}, goldenWorld(nil))
		require.NoError(t, err)
		require.Equal(t, &flow.Error{Code: "delay.time", Message: want, Node: "A"}, turn.State.Ended.Error)
	}
	for _, until := range []string{"'later'", "'2027-03-02T10:00:00Z'"} {
		p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"until": until})})
		turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
		require.NoError(t, err)
		require.Equal(t, "delay.time", turn.State.Ended.Error.Code, until)
	}
	p := nodes(t, map[string]any{"A": nodeOf("delay", map[string]any{"until": "'2026-03-02'"}, "out", "E"), "E": say("at once")})
	turn, err := p.Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, []string{"at once"}, texts(t, turn), "a time that has passed is no wait")
}
