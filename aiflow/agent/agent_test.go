package agent_test

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

func TestAnswersWithTools(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(
			llmtest.Call(order("1", "find", "A-1"), order("2", "find", "A-2")),
			llmtest.Call(order("3", "ship", "A-2")),
			llmtest.Say("A-2 is on its way."),
		)
		var c calls
		f := running(t, db, change{model: model, tools: []llm.Tool{c.reading("find"), c.writing("ship"), c.reading("secret")}})
		d := f.ask(t, config{"tools": []string{"find", "ship"}}, "Ship A-2")
		require.Equal(t, "A-2 is on its way.", output(t, d))
		require.Equal(t, agent.StopDone, stopped(t, d))
		require.Equal(t, []string{"A-2 is on its way."}, f.said(t, "ana"))
		require.ElementsMatch(t, []string{`{"order":"A-1"}`, `{"order":"A-2"}`}, c.all()[:2])
		require.Equal(t, `{"order":"A-2"}`, c.all()[2])
		require.NoError(t, model.Done())

		// The model is shown its tools, and what they returned as data.
		first, last := model.Requests()[0], model.Requests()[2]
		require.Len(t, first.Tools, 2)
		require.Equal(t, "one", first.Model)
		require.True(t, strings.HasPrefix(first.System, "Help."))
		require.Equal(t, []llm.ToolResult{
			{CallID: "1", Content: "<data from=\"find\">\nfound {\"order\":\"A-1\"}\n</data>"},
			{CallID: "2", Content: "<data from=\"find\">\nfound {\"order\":\"A-2\"}\n</data>"},
		}, last.Messages[2].Results)

		f.agrees(t, model)
		usage := d.Steps[1].Out["usage"].(map[string]any)
		require.Equal(t, "3", usage["calls"].(interface{ String() string }).String())
		require.Equal(t, "script/one", usage["model"])
		require.Equal(t, []string{
			"turn  done", "tool find done", "tool find done", "turn  done", "tool ship done", "turn A-2 is on its way. done",
		}, f.entries(t, d.ID))
	})
}
