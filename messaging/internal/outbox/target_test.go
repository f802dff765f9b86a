package outbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/provider"
)

func TestAimedAt_ChangesTheTarget(t *testing.T) {
	for _, c := range []provider.Content{provider.Reaction{MessageID: "a"}, provider.Edit{MessageID: "a"}, provider.Revoke{MessageID: "a"}} {
		require.Equal(t, "a", Target(c))
		require.Equal(t, "b", Target(AimedAt(c, "b")))
		require.Equal(t, "a", Target(c), "the content itself stays as it is")
	}
}

func TestAimedAt_LeavesOtherContent(t *testing.T) {
	text := provider.Text{Text: "hello"}
	require.Empty(t, Target(text))
	require.Equal(t, text, AimedAt(text, "b"))
}

func TestAttempt_Outcome(t *testing.T) {
	refused := &provider.Failure{Code: "no"}
	for want, a := range map[string]attempt{
		timeline.Sent:        {receipt: &provider.Receipt{}},
		timeline.Failed:      {failed: refused},
		timeline.Unconfirmed: {uncertain: true},
		timeline.Retried:     {retry: true},
	} {
		require.Equal(t, want, a.outcome())
	}
	require.Equal(t, refused, attempt{failed: refused}.failure())
	require.Nil(t, attempt{receipt: &provider.Receipt{}}.failure())
}
