package flow_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// A document that compiles also runs: the interpreter supports every part of it.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	types, pool, env, ran := node.NewTypes(), nodePool(t), around(t), 0
	for i := range uint64(600) {
		r := rand.New(rand.NewPCG(11, i))
		raw := randomDocument(t, r, pool)
		d, _ := flow.Decode(raw)
		if d == nil {
			continue
		}
		p, _ := types.Compile(d, env)
		if p == nil {
			continue
		}
		ran++
		world := goldenWorld(nil)
		turn, err := p.Step(nil, flow.Begin{Input: map[string]any{"text": "hi"}}, world)
		require.NoError(t, err, "%s", raw)
		for range 8 {
			sound(t, turn)
			var s flow.State
			require.NoError(t, json.Unmarshal([]byte(marshal(t, turn.State)), &s))
			var in flow.Input = flow.Continue{}
			if !turn.More {
				in = anyInput(r, &s)
			}
			if next, err := p.Step(&s, in, world); err == nil {
				turn = next
			}
		}
	}
	require.Greater(t, ran, 30)
}
