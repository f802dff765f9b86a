package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// TestRunUsage shows with runs what their models took, and what their agents
// did.
func TestRunUsage(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		m.Add(toolCall("1", "nothing", `{}`), llmtest.Say("Hello"))
		ana := f.as(t, "ana")
		_, publish := ana.project(t)
		id := publish(helping(`"maxSteps": 5`))
		run := ana.start(t, `{"flowId":"`+id+`","input":{"text":"Hi"}}`)["id"].(string)
		d := ana.call(t, "GET", "/aiflow/run/"+run, "").json(200)
		require.Equal(t, "completed", d["status"])
		duration := d["usage"].(map[string]any)
		require.Equal(t, []int{2, 2}, []int{count(duration["calls"]), count(duration["unpricedCalls"])})
		require.Positive(t, duration["inputTokens"])
		require.Nil(t, duration["cost"], "the model has no price")
		var kinds []string
		for _, e := range d["agent"].([]any) {
			kinds = append(kinds, e.(map[string]any)["kind"].(string))
		}
		require.Equal(t, []string{"turn", "tool", "turn"}, kinds)
		listed := ana.call(t, "GET", "/aiflow/run?flowId="+id+"&status=completed&limit=1", "").json(200)["items"].([]any)
		require.Equal(t, duration, listed[0].(map[string]any)["usage"])
		other := publish(echoFlow("plain", `{"on":[{"kind":"api"}]}`))
		free := ana.start(t, `{"flowId":"`+other+`"}`)["usage"].(map[string]any)
		require.Equal(t, []int{0, 0}, []int{count(free["calls"]), count(free["cost"])})
	})
}
