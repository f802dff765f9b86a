package flow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// conversation is a golden file: a document, the inputs of a run, and the expected
// turns. -update rewrites the turns.
type conversation struct {
	About     string                     `json:"about"`
	Document  json.RawMessage            `json:"document"`
	Functions map[string]json.RawMessage `json:"functions,omitempty"`
	Contact   map[string]any             `json:"contact,omitempty"`
	Steps     []exchange                 `json:"steps"`
}

// exchange is one input and the turn that follows.
type exchange struct {
	After   string                 `json:"after,omitempty"` // how much later, as a Go duration
	Input   json.RawMessage        `json:"input"`           // ids may be "wait" and "timer": those of the wait
	Refused map[string]*flow.Error `json:"refused,omitempty"`
	Expect  *expectation           `json:"expect,omitempty"`
}

type expectation struct {
	NotWaiting bool             `json:"notWaiting,omitempty"`
	Effects    []map[string]any `json:"effects,omitempty"`
	Trace      []flow.TraceRow  `json:"trace,omitempty"`
	Wait       *flow.Wait       `json:"wait,omitempty"`
	More       bool             `json:"more,omitempty"`
	Ended      *flow.Ending     `json:"ended,omitempty"`
	Vars       map[string]any   `json:"vars,omitempty"`
}

var goldenNow = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) // a Monday

func TestTurns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/turns/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	seen := newCoverage(files)
	t.Run("files", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				t.Parallel()
				converse(t, file, seen)
			})
		}
	})
	seen.complete(t)
}

// converse plays a conversation. It encodes and decodes the state between the
// turns.
func converse(t *testing.T, file string, seen *coverage) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var c conversation
	require.NoError(t, json.Unmarshal(raw, &c), file)
	p := c.compile(t)
	play := player{program: p, world: goldenWorld(c.Contact)}
	for i := range c.Steps {
		e := &c.Steps[i]
		turn, got := play.take(t, e)
		if turn != nil {
			seen.note(c, turn)
		}
		if *update {
			e.Expect = got
			continue
		}
		require.JSONEq(t, marshal(t, e.Expect), marshal(t, got), "step %d", i)
	}
	seen.done()
	if *update {
		out, err := json.MarshalIndent(c, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(out, '\n'), 0o600))
	}
}

func goldenWorld(contact map[string]any) flow.World {
	if contact == nil {
		contact = map[string]any{"name": "Ada", "phone": "4915112345678", "language": "en", "tags": []any{}, "fields": map[string]any{}}
	}
	return flow.World{
		Now: goldenNow, Contact: contact, Extractor: finder{},
		Run:  flow.RunInfo{ID: "run-1", StartedAt: goldenNow},
		Chat: map[string]any{"id": "4915112345678", "reference": 1, "variables": map[string]any{}},
	}
}

// compile compiles the document of the conversation, which must have no problems.
func (c conversation) compile(t testing.TB) *flow.Program {
	t.Helper()
	env := &flow.Environment{Functions: map[string]*flow.Document{}}
	for slug, raw := range c.Functions {
		env.Functions[slug] = decode(t, raw)
	}
	p, problems := node.NewTypes().Compile(decode(t, c.Document), env)
	require.NotNil(t, p, "%v", problems)
	return p
}

func decode(t testing.TB, raw []byte) *flow.Document {
	t.Helper()
	d, problems := flow.Decode(raw)
	require.False(t, flow.Failed(problems), "%v", problems)
	return d
}

// player is a run that its state leaves memory after each turn.
type player struct {
	program *flow.Program
	world   flow.World
	stored  []byte
}

func (p *player) take(t testing.TB, e *exchange) (*flow.Turn, *expectation) {
	t.Helper()
	if e.After != "" {
		d, err := time.ParseDuration(e.After)
		require.NoError(t, err)
		p.world.Now = p.world.Now.Add(d)
	}
	p.world.Refused = e.Refused
	s := p.state(t)
	in, err := flow.DecodeInput(named(e.Input, s))
	require.NoError(t, err)
	turn, err := p.program.Step(s, in, p.world)
	if err != nil {
		require.ErrorIs(t, err, flow.ErrNotWaiting)
		return nil, &expectation{NotWaiting: true}
	}
	again, err := p.program.Step(p.state(t), in, p.world)
	require.NoError(t, err)
	require.Equal(t, marshal(t, shown(turn)), marshal(t, shown(again)), "the same arguments give the same turn")
	if s != nil {
		require.JSONEq(t, string(p.stored), marshal(t, s), "the given state is not changed")
	}
	p.stored, err = json.Marshal(turn.State)
	require.NoError(t, err)
	return turn, shown(turn)
}

func (p *player) state(t testing.TB) *flow.State {
	t.Helper()
	if p.stored == nil {
		return nil
	}
	var s flow.State
	require.NoError(t, json.Unmarshal(p.stored, &s))
	require.JSONEq(t, string(p.stored), marshal(t, &s), "a state is read back as it was written")
	return &s
}

// named replaces the names of waits by their ids.
func named(raw json.RawMessage, s *flow.State) json.RawMessage {
	if s == nil || s.Wait == nil {
		return raw
	}
	out := strings.ReplaceAll(string(raw), `"id":"wait"`, `"id":"`+s.Wait.ID+`"`)
	out = strings.ReplaceAll(strings.ReplaceAll(out, `"id": "wait"`, `"id":"`+s.Wait.ID+`"`), `"id": "timer"`, `"id":"timer"`)
	return json.RawMessage(strings.ReplaceAll(out, `"id":"timer"`, `"id":"`+s.Wait.Timer+`"`))
}

func shown(turn *flow.Turn) *expectation {
	e := &expectation{Trace: turn.Trace, Wait: turn.State.Wait, More: turn.More, Ended: turn.State.Ended}
	for _, effect := range turn.Effects {
		e.Effects = append(e.Effects, map[string]any{effectName(effect): effect})
	}
	if len(turn.State.Frames) > 0 {
		e.Vars = turn.State.Frames[0].Vars
	}
	return e
}

func effectName(e flow.Effect) string {
	switch e.(type) {
	case flow.Send:
		return "send"
	case flow.Call:
		return "call"
	case flow.SetTimer:
		return "setTimer"
	case flow.CancelTimer:
		return "cancelTimer"
	case flow.ContactChange:
		return "contact"
	case flow.DataEvent:
		return "event"
	case flow.Handoff:
		return "handoff"
	case flow.EndHandoff:
		return "endHandoff"
	case flow.Ask:
		return "ask"
	case flow.Jump:
		return "jump"
	}
	return "unknown"
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// finder is the Extractor of the goldens.
type finder struct{}

func (finder) Entities(text string, types []string, _ string, _ time.Time) (map[string]any, error) {
	out := map[string]any{}
	for _, kind := range types {
		if _, after, ok := strings.Cut(text, kind+":"); ok {
			out[kind] = strings.Fields(after)[0]
		}
	}
	return out, nil
}

func (finder) Intent(_, text, _ string) ([]flow.Intent, error) {
	switch {
	case strings.Contains(text, "refund"):
		return []flow.Intent{{ID: "refund", Confidence: 0.9}, {ID: "buy", Confidence: 0.2}}, nil
	case strings.Contains(text, "maybe"):
		return []flow.Intent{{ID: "refund", Confidence: 0.55}, {ID: "buy", Confidence: 0.5}}, nil
	case strings.Contains(text, "buy"):
		return []flow.Intent{{ID: "buy", Confidence: 0.8}}, nil
	}
	return nil, nil
}
