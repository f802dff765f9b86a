package graph_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

var update = flag.Bool("update", false, "rewrite docs/graph-errors.md")

const codesDoc = "../../docs/graph-errors.md"

// TestCodesAreDocumented holds the guide against the table that decides.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Errors of WhatsApp Cloud API and Messenger

This page lists how Trunkline handles the error codes of Meta's Graph API. The advice is the member ` + "`advice`" + ` of the ` + "`error`" + ` of
records and events. In the problem of a request it follows Meta's own words, in brackets.
This table is written by ` + "`go test ./provider/graph -run Codes -update`" + `.

| becomes | meaning |
|---|---|
| Rejected | refused for good: the message is ` + "`FAIL`" + ` |
| RateLimited | not sent; Trunkline repeats it after the time that Meta names, else after 1, 4, 16 … seconds |
| Temporary | not sent; Trunkline repeats it, with growing pauses |
| WindowClosed | the contact has not written within the window: ` + "`FAIL`" + `; send a template, or on a page use a tag |
| BadRecipient | this contact cannot be reached: ` + "`FAIL`" + ` |
| AuthExpired | the reference's credentials or permissions are not valid: ` + "`FAIL`" + `, and the reference's session fails, too |

| code | becomes | advice |
|---|---|---|
`)
	for _, row := range graph.ForTest() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row[0], row[1], row[2])
	}
	b.WriteString(`
A code that is not in the table is handled by its HTTP status: 429 is RateLimited, 401 AuthExpired, 408 and 3xx Temporary, other
4xx Rejected. After a 5xx without a known code it is unknown whether the message was sent, so Trunkline does not repeat it.
`)
	if *update {
		require.NoError(t, os.WriteFile(codesDoc, []byte(b.String()), 0o644))
	}
	stored, err := os.ReadFile(codesDoc)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(stored), "run with -update")
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"131026", "131047", "131049", "132000", "132001", "132005", "132007",
		"132012", "132015", "132016", "190", "368", "230", "132999",
	} {
		require.Regexp(t, `^[A-Z].+\.$`, graph.Advice(code), code)
	}
	for _, code := range []string{"", "x", "999999", "134999", "131056", "130429", "1"} {
		require.Empty(t, graph.Advice(code))
	}
	err := answering(t, 400, nil, `{"error":{"message":"Invalid parameter","code":100,"error_subcode":2388299}}`).Post(t.Context(), "x", nil, nil)
	require.ErrorContains(t, graph.CallError(err), "[The template must not begin or end with a variable.]")
}
