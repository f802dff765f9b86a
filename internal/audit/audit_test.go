package audit_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
)

var update = flag.Bool("update", false, "write the table of docs/audit.md")

// TestGuide holds the table of docs/audit.md against the actions.
func TestGuide(t *testing.T) {
	t.Parallel()
	const page = "../../docs/audit.md"
	stored, err := os.ReadFile(page)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("| action | the actor |\n|---|---|\n")
	for _, a := range audit.Actions() {
		require.Regexp(t, `^[a-z]+\.[a-zA-Z]+$`, string(a))
		require.NotEmpty(t, a.Meaning(), a)
		fmt.Fprintf(&b, "| `%s` | %s |\n", a, a.Meaning())
	}
	table := regexp.MustCompile(`(?s)(<!-- actions:[^\n]*-->\n).*(<!-- /actions -->)`)
	require.Regexp(t, table, string(stored))
	want := table.ReplaceAllString(string(stored), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(stored), "run with -update")
}

func TestChanged(t *testing.T) {
	t.Parallel()
	require.Nil(t, audit.Changed())
	require.Equal(t, map[string]any{"changed": []string{"name", "email"}}, audit.Changed("name", "email"))
}
