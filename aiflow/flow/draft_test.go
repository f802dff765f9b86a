package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

func TestCheckDraft(t *testing.T) {
	t.Parallel()
	for _, draft := range []string{`{}`, " \n{\"nodes\":7}", `{"format":"other"}`} {
		require.NoError(t, flow.CheckDraft([]byte(draft)))
	}
	for draft, want := range map[string]string{
		``: "must be a JSON object", `[]`: "must be a JSON object", `null`: "must be a JSON object",
		`{"a":1,"a":2}`: "/a: is given twice", `{"a":{"b":1,"b":2}}`: "/a/b: is given twice",
		"{\"a\":\"\xff\"}": "must be UTF-8",
		`{"a":"` + strings.Repeat("x", flow.MaxDraft) + `"}`: "must have at most 2097152 bytes",
	} {
		require.EqualError(t, flow.CheckDraft([]byte(draft)), want)
	}
	require.ErrorContains(t, flow.CheckDraft([]byte(`{"a":`)), "is not JSON")
}

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Order a pizza!": "order-a-pizza", "  Más — café ": "m-s-caf", "日本": "bot", "": "bot", "A_b": "a-b",
		strings.Repeat("ab ", 40): strings.Repeat("ab-", 21) + "a",
	} {
		require.Equal(t, want, flow.SlugOf(name, "bot"), name)
	}
}
