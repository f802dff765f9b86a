package flow_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// stage is a run at one of its waits.
type stage struct {
	program *flow.Program
	world   flow.World
	state   []byte
}

// stages returns all waits of the goldens.
func stages(t testing.TB) []stage {
	files, err := filepath.Glob("testdata/turns/*.json")
	require.NoError(t, err)
	var out []stage
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var c conversation
		require.NoError(t, json.Unmarshal(raw, &c))
		play := player{program: c.compile(t), world: goldenWorld(c.Contact)}
		for i := range c.Steps {
			play.take(t, &c.Steps[i])
			out = append(out, stage{play.program, play.world, play.stored})
		}
	}
	return out
}

// anyMessage returns a random message of a contact.
func anyMessage(r *rand.Rand) map[string]any {
	texts := []string{"", "hi", "1", "yes", "no", "3,5", "tomorrow", "stop", "\x00\xff", "ada@example.com", "+4915112345678", "small", "𝕳", "{{ vars }}"}
	m := map[string]any{"id": "m", "type": "text", "text": texts[r.IntN(len(texts))]}
	switch r.IntN(6) {
	case 0:
		m["media"] = map[string]any{"id": "x"}
		m["type"] = "image"
	case 1:
		m["reply"] = map[string]any{"id": texts[r.IntN(len(texts))], "title": 5}
	case 2:
		m["location"] = map[string]any{"latitude": 1, "longitude": "x"}
	case 3:
		m["contacts"] = []any{1, map[string]any{"phones": []any{"x", map[string]any{"phone": "12"}}}}
	case 4:
		m["text"] = 7
	}
	return m
}

// anyInput returns a random input, mostly one that the run waits for.
func anyInput(r *rand.Rand, s *flow.State) flow.Input {
	w := flow.Wait{ID: "1", Timer: "2", Event: "x"}
	if s.Wait != nil {
		w = *s.Wait
	}
	results := []any{
		nil, "x", 7,
		map[string]any{"status": 200, "body": map[string]any{"a": []any{1}}},
		map[string]any{"status": -5},
		map[string]any{"status": 503},
		map[string]any{"finish": "done", "text": "hello", "value": map[string]any{"x": 1}},
		map[string]any{"finish": "ask", "text": ""},
		map[string]any{"finish": "approval"},
		map[string]any{"finish": "x"},
		json.RawMessage(`{"finish":"done"}`), json.RawMessage(`{`), func() {},
	}
	switch r.IntN(13) {
	case 0:
		return flow.Timer{ID: w.Timer}
	case 1:
		return flow.EffectDone{ID: w.ID, Err: &flow.Error{Code: []string{"http.timeout", "http.connect", "x"}[r.IntN(3)]}}
	case 2, 3:
		return flow.EffectDone{ID: w.ID, Result: results[r.IntN(len(results))]}
	case 4:
		return flow.Event{Name: w.Event, Data: anyMessage(r)}
	case 5:
		return flow.Assigned{}
	case 6:
		return flow.HandoffClosed{}
	case 7:
		return flow.Approval{ID: w.ID, Approved: r.IntN(2) == 0}
	case 8:
		return flow.Continue{}
	case 10:
		return flow.Retry{Repeat: r.IntN(2) == 0}
	case 9:
		return flow.Timer{ID: string(rune('0' + r.IntN(10)))}
	}
	return flow.Reply{Message: anyMessage(r)}
}

// After any input the run waits, has ended or has more to do, and continues from
// its stored state as from memory. Nothing panics.
func TestAnythingMayCome(t *testing.T) {
	t.Parallel()
	all := stages(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		st := all[r.IntN(len(all))]
		memory := read(t, st.state)
		for range 5 {
			in := anyInput(r, memory)
			st.world.Now = st.world.Now.Add(time.Minute)
			turn, err := st.program.Step(memory, in, st.world)
			again, errAgain := st.program.Step(read(t, []byte(marshal(t, memory))), in, st.world)
			require.Equal(t, err, errAgain)
			if err != nil {
				require.True(t, errors.Is(err, flow.ErrNotWaiting) || errors.Is(err, flow.ErrOtherDocument), "%v after %#v", err, in)
				continue
			}
			require.Equal(t, marshal(t, []any{turn.State, turn.Effects, turn.Trace}), marshal(t, []any{again.State, again.Effects, again.Trace}))
			sound(t, turn)
			memory = turn.State
		}
	}
}

func read(t testing.TB, state []byte) *flow.State {
	t.Helper()
	s := &flow.State{}
	require.NoError(t, json.Unmarshal(state, s))
	return s
}

// sound checks the invariants after each turn.
func sound(t testing.TB, turn *flow.Turn) {
	s := turn.State
	states := 0
	for _, is := range []bool{s.Wait != nil, s.Ended != nil, turn.More} {
		if is {
			states++
		}
	}
	require.Equal(t, 1, states, "a run waits, has ended or has more to do")
	ids := map[string]bool{}
	for _, e := range turn.Effects {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		var named struct{ ID string }
		require.NoError(t, json.Unmarshal(raw, &named))
		require.NotEmpty(t, named.ID)
		if name := effectName(e); name != "cancelTimer" && name != "endHandoff" {
			require.False(t, ids[named.ID], "ids are unique")
			ids[named.ID] = true
		}
	}
	if s.Wait != nil && s.Wait.Timer != "" {
		require.False(t, s.Wait.Until.IsZero())
	}
	require.NotContains(t, marshal(t, turn.Trace), "panicked")
}

// FuzzStep gives runs broken states and inputs. They are refused or accepted, and
// nothing panics.
func FuzzStep(f *testing.F) {
	all := stages(f)
	for i, st := range all {
		f.Add(uint(i), st.state, []byte(`{"reply":{"message":{"text":"hi"}}}`))
	}
	f.Add(uint(0), []byte(`{"frames":[{"loop":{"i":-1}}]}`), []byte(`{"timer":{"id":"1"}}`))
	f.Fuzz(func(t *testing.T, which uint, state, input []byte) {
		st := all[which%uint(len(all))]
		var s flow.State
		if json.Unmarshal(state, &s) != nil {
			return
		}
		s.Hash = st.program.Hash()
		in, err := flow.DecodeInput(input)
		if err != nil {
			return
		}
		turn, err := st.program.Step(&s, in, st.world)
		if err != nil {
			return
		}
		require.NotContains(t, marshal(t, turn.Trace), "panicked")
		var back flow.State
		require.NoError(t, json.Unmarshal([]byte(marshal(t, turn.State)), &back))
	})
}
