package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// TestTalk talks to the agent: to the built-in model, and to one over HTTP.
func TestTalk(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "agent")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	require.Equal(t, []string{
		"mock/assistant answers. Ask for order A-17, or for our hours.",
		"> Hello! How can I help you?",
		"> Here is what I found: status: on its way, arrives: tomorrow",
		"> This did not work: not_found: there is no order of that number",
		"> Here is what I found: weekdays: 9 to 18, sunday: closed",
	}, talk(t, bin, "Hello\nWhere is my order A-17?\nAnd my order B-1?\nWhen are you open?\n"))

	model := llmtest.NewServer(
		llmtest.Call(llm.ToolCall{ID: "1", Name: "order_status", Arguments: `{"order":"A-18"}`}),
		llmtest.Say("It is being packed."),
	)
	defer model.Close()
	require.Equal(t, []string{
		"openai/gpt-5-mini answers. Ask for order A-17, or for our hours.",
		"> It is being packed.",
	}, talk(t, bin, "Where is A-18?\n", "OPENAI_API_KEY=a-key", "OPENAI_BASE_URL="+model.OpenAI()))
	require.NoError(t, model.Done())
	require.Contains(t, model.Requests()[1].Messages[2].Results[0].Content, "being packed")
}

// talk types lines and returns what is printed.
func talk(t *testing.T, bin, lines string, env ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "ANTHROPIC_")
	}), env...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines), t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
