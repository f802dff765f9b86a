package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestTalk talks to the agent: to the built-in model, and to one over HTTP.
func TestTalk(t *testing.T) {
	t.Parallel()
	readme := testkit.ReadExample(t)
	require.Equal(t, []string{
		"mock/assistant answers. Ask for order A-17, or for our hours.",
		"> Hello! How can I help you?",
		"> Here is what I found: status: on its way, arrives: tomorrow",
		"> This did not work: not_found: there is no order of that number",
		"> Here is what I found: weekdays: 9 to 18, sunday: closed",
	}, talk(t, readme.Block(t, "mock"), "Hello\nWhere is my order A-17?\nAnd my order B-1?\nWhen are you open?\n"))

	model := llmtest.NewServer(
		llmtest.Call(llm.ToolCall{ID: "1", Name: "order_status", Arguments: `{"order":"A-18"}`}),
		llmtest.Say("It is being packed."),
	)
	defer model.Close()
	require.Equal(t, []string{
		"openai/gpt-5-mini answers. Ask for order A-17, or for our hours.",
		"> It is being packed.",
	}, talk(t, readme.Block(t, "key", "sk-…", "a-key"), "Where is A-18?\n", "OPENAI_BASE_URL="+model.OpenAI()))
	require.NoError(t, model.Done())
	require.Contains(t, model.Requests()[1].Messages[2].Results[0].Content, "being packed")
}

// talk starts the program by the line of the README, types, and returns what is
// printed.
func talk(t *testing.T, start, lines string, env ...string) []string {
	t.Helper()
	sh := testkit.NewShell(t, append([]string{"OPENAI_API_KEY=", "OPENAI_BASE_URL=", "ANTHROPIC_API_KEY="}, env...)...)
	sh.Send(t, start+lines)
	return sh.Rest(t)
}
