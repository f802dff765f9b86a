package flow_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// pingConfig is a node type of an embedder: it asks the contact for a word.
type pingConfig struct {
	Word flow.Text `json:"word" required:"true" doc:"What is waited for."`
}

func (*pingConfig) Outputs() []string   { return []string{"out", "error"} }
func (*pingConfig) Check(*flow.Checker) {}

func (c *pingConfig) Step(t *flow.Turn) (flow.Exit, error) {
	word, err := t.Text(c.Word)
	if err != nil {
		return flow.Exit{}, err
	}
	if word == "panic" {
		panic("at the disco")
	}
	if err := t.Send(map[string]any{"type": "text", "text": "say " + word}, "", 0); err != nil {
		return flow.Exit{}, err
	}
	at := t.Now().Add(time.Minute)
	return t.Wait(flow.Wait{Kind: flow.WaitReply, Timer: t.SetTimer(at), Until: at, Data: word}), nil
}

func (c *pingConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	reply, ok := in.(flow.Reply)
	if !ok || reply.Message["text"] != t.Waited().Data {
		return flow.Exit{}, flow.ErrNotWaiting
	}
	t.Note(nil, map[string]any{"said": reply.Message["text"]})
	return flow.Out("out"), t.Set("said", reply.Message["text"])
}

func pinging(t *testing.T, word string) *flow.Program {
	types := node.NewTypes()
	require.NoError(t, types.Register(flow.NodeType{
		Name: "x.ping", Group: "mine", Text: "Asks for a word.", Outputs: []flow.Output{{Name: "out", Text: "said"}, {Name: "error", Text: "not"}},
		Config: func() flow.Config { return &pingConfig{} },
	}))
	d := decode(t, []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"p","name":"p","start":"T","nodes":{
		"T":{"type":"trigger","next":{"out":"P"}},"P":{"type":"x.ping","config":{"word":"`+word+`"},"next":{"error":"E"}},
		"E":{"type":"end","config":{"result":"{{ error.code }}"}}}}`))
	p, problems := types.Compile(d, &flow.Environment{})
	require.NotNil(t, p, "%v", problems)
	return p
}

func TestNodeTypeOfAnEmbedder(t *testing.T) {
	t.Parallel()
	w := goldenWorld(nil)
	p := pinging(t, "pong {{ 1 + 1 }}")
	turn, err := p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"text","text":"say pong 2"}`, string(turn.Effects[0].(flow.Send).Message))
	raw, err := json.Marshal(turn.State)
	require.NoError(t, err)
	var s flow.State
	require.NoError(t, json.Unmarshal(raw, &s))
	_, err = p.Step(&s, flow.Reply{Message: map[string]any{"text": "pang"}}, w)
	require.ErrorIs(t, err, flow.ErrNotWaiting, "a node may refuse an input")
	require.JSONEq(t, string(raw), marshal(t, &s), "and nothing has changed then")
	turn, err = p.Step(&s, flow.Reply{Message: map[string]any{"text": "pong 2"}}, w)
	require.NoError(t, err)
	require.Equal(t, "pong 2", turn.State.Frames[0].Vars["said"])
	require.Equal(t, []flow.Effect{flow.CancelTimer{ID: s.Wait.Timer}}, turn.Effects)
}

func TestNodeTypeThatPanics(t *testing.T) {
	t.Parallel()
	turn, err := pinging(t, "panic").Step(nil, flow.Begin{}, goldenWorld(nil))
	require.NoError(t, err)
	require.Equal(t, "internal", turn.State.Ended.Output, "it takes its error output")
}
