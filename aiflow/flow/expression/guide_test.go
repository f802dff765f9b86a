package expression_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

var update = flag.Bool("update", false, "rewrite docs/expressions.md and the golden file")

const guide = "../../../docs/expressions.md"

// TestGuide holds the guide against what an editor is offered.
func TestGuide(t *testing.T) {
	t.Parallel()
	c := expression.Completions(nil)
	var functions, operators strings.Builder
	functions.WriteString("| function | what it is |\n|---|---|\n")
	for _, group := range []string{"text", "list", "number", "date", "value"} {
		for _, f := range c.Functions {
			if f.Group == group {
				fmt.Fprintf(&functions, "| `%s` | %s |\n", cell(f.Signature), cell(f.Text))
			}
		}
	}
	operators.WriteString("| operator | what it is |\n|---|---|\n")
	for _, o := range c.Operators {
		fmt.Fprintf(&operators, "| `%s` | %s |\n", cell(o.Operator), cell(o.Text))
	}

	raw, err := os.ReadFile(guide)
	require.NoError(t, err)
	want := section(t, section(t, string(raw), "functions", functions.String()), "operators", operators.String())
	if *update {
		require.NoError(t, os.WriteFile(guide, []byte(want), 0o644))
	}
	kept, err := os.ReadFile(guide)
	require.NoError(t, err)
	require.Equal(t, want, string(kept), "run with -update")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// section replaces what is between the markers of that name.
func section(t *testing.T, doc, name, body string) string {
	t.Helper()
	re := regexp.MustCompile(`(?s)(<!-- ` + name + `[^\n]*-->\n).*(<!-- /` + name + ` -->)`)
	require.Regexp(t, re, doc)
	return re.ReplaceAllString(doc, "${1}"+strings.ReplaceAll(body, "$", "$$")+"${2}")
}
