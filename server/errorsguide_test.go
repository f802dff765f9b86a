package server_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// TestErrorsGuide holds the table of docs/errors.md against the codes that
// requests are refused with.
func TestErrorsGuide(t *testing.T) {
	t.Parallel()
	const page = "../docs/errors.md"
	kept, err := os.ReadFile(page)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("| code | status | what happened, and what to do |\n|---|---|---|\n")
	status, meanings := server.Codes(), server.Meanings()
	codes := slices.SortedFunc(maps.Keys(status), func(a, b string) int {
		return cmp.Or(status[a]-status[b], strings.Compare(a, b))
	})
	for _, code := range codes {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", code, status[code], meanings[code])
	}
	table := regexp.MustCompile(`(?s)(<!-- problems:[^\n]*-->\n).*(<!-- /problems -->)`)
	require.Regexp(t, table, string(kept))
	want := table.ReplaceAllString(string(kept), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(kept), "run with -update")
}
