package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// awaiting is a function that waits for an event.
const awaiting = `{
	"format": "trunkline-flow/1", "kind": "function", "slug": "ask", "name": "Ask", "start": "wait", "returns": {"said": {"type": "string"}},
	"nodes": {
		"wait": {"type": "wait", "config": {"event": "said"}, "next": {"out": "give"}},
		"give": {"type": "return", "config": {"value": {"said": "yes"}}}
	}
}`

// runs are the runs of a list, the newest first.
func (c client) runs(t *testing.T, query string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, run := range c.call(t, "GET", "/aiflow/run?"+query, "").json(200)["items"].([]any) {
		out = append(out, run.(map[string]any))
	}
	return out
}

// awaitRun waits until the one run of a list is in a status.
func (c client) awaitRun(t *testing.T, query, status string) map[string]any {
	t.Helper()
	var found []map[string]any
	c.until(t, func() bool {
		found = c.runs(t, query)
		return len(found) == 1 && found[0]["status"] == status
	})
	return found[0]
}

// askAgent publishes a flow whose agent calls the function that waits, and has a contact
// write to it.
func (c client) askAgent(t *testing.T, m *llmtest.Script) (flow, parent string, child map[string]any) {
	t.Helper()
	_, publish := c.project(t)
	publish(awaiting)
	flow = publish(helping(`"functions": ["ask"]`))
	ref := c.sandbox(t)
	c.listen(t, flow, ref)
	m.Add(toolCall("1", "fn_ask", `{}`))
	c.write(t, ref, "ana", "Go")
	parent = c.awaitRun(t, "flowId="+flow, "running")["id"].(string)
	return flow, parent, c.awaitRun(t, "parent="+parent, "waiting")
}

// TestFunctionRunShowsItsParent has an agent call a function that waits. Its run names
// the run that called it, and is not listed under the flow.
func TestFunctionRunShowsItsParent(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		owner := f.as(t, "owner")
		flow, parent, child := owner.askAgent(t, m)
		id := child["id"].(string)
		require.Equal(t, []any{parent, "ask", flow}, []any{child["parent"], child["function"], child["flowId"]})

		detail := owner.call(t, "GET", "/aiflow/run/"+id, "").json(200)
		require.Equal(t, []any{parent, "ask"}, []any{detail["parent"], detail["function"]})
		listed := owner.runs(t, "flowId="+flow)
		require.Len(t, listed, 1)
		require.Equal(t, []any{parent, nil, nil}, []any{listed[0]["id"], listed[0]["parent"], listed[0]["function"]})
		require.Len(t, owner.runs(t, "flowId="+flow+"&parent="+parent), 1)
		require.Len(t, owner.runs(t, ""), 2)
		require.Empty(t, owner.runs(t, "parent="+id))
		owner.call(t, "GET", "/aiflow/run?parent=%00", "").problem(422, "validation")
		require.Empty(t, f.as(t, "stranger").runs(t, "parent="+parent))

		replay := "/aiflow/flow/" + flow + "/replay"
		owner.call(t, "POST", replay, fmt.Sprintf(`{"runs":[%q]}`, id)).problem(404, "not_found")
		require.Len(t, owner.call(t, "POST", replay, `{}`).json(200)["items"], 1)

		m.Add(llmtest.Say("Thanks."))
		owner.call(t, "POST", "/aiflow/run/"+id+"/event", `{"name":"said"}`).json(200)
		require.Equal(t, "Thanks.", owner.awaitRun(t, "flowId="+flow, "completed")["output"])
	})
}

// TestFunctionEndsWithItsParent cancels the run of an agent that waits for a function:
// the function ends, too.
func TestFunctionEndsWithItsParent(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		owner := f.as(t, "owner")
		_, parent, child := owner.askAgent(t, m)
		require.Equal(t, "cancelled", owner.call(t, "POST", "/aiflow/run/"+parent+"/cancel", "").json(200)["status"])
		require.Equal(t, "cancelled", owner.after(t, "/aiflow/run/", child, "waiting", "running")["status"])
		require.NoError(t, m.Done())
	})
}

// TestFlowThatAnAgentBeginsIsListed has an agent begin another flow, which outlives the
// run of the agent: it is listed under its own flow, and names that run.
func TestFlowThatAnAgentBeginsIsListed(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		owner := f.as(t, "owner")
		_, publish := owner.project(t)
		other := publish(paid)
		flow := publish(helping(`"approval": "never", "tools": ["run_flow"]`))
		m.Add(toolCall("1", "run_flow", fmt.Sprintf(`{"flowId":%q}`, other)), llmtest.Say("Done."))
		parent := owner.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"text":"Go"}}`, flow))
		require.Equal(t, "Done.", parent["output"])
		listed := owner.runs(t, "flowId="+other)
		require.Len(t, listed, 1)
		require.Equal(t, []any{parent["id"], nil, "waiting"}, []any{listed[0]["parent"], listed[0]["function"], listed[0]["status"]})
		require.Equal(t, listed, owner.runs(t, "parent="+parent["id"].(string)))
	})
}
