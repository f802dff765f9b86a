package providertest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// Whole checks that an event is as package messaging requires, whatever bytes
// it was made of: it has the required ids and does not contradict itself. Fuzz
// tests of parsers call it.
func Whole(t testing.TB, event provider.Event) {
	t.Helper()
	if raw := provider.RawOf(event); raw != nil {
		require.NotEmpty(t, raw.ID)
		require.NotEmpty(t, raw.Kind)
		require.True(t, json.Valid(raw.Body), "a report holds what the network said")
	}
	switch e := event.(type) {
	case *provider.Message:
		wholeMessage(t, e)
	case *provider.StatusChange:
		require.True(t, e.MessageID != "" || e.OwnID != "" || e.To.ChatID != "" && !e.UpTo.IsZero(), "a status names what it is about")
		require.Equal(t, e.Status == provider.StatusFail, e.Error != nil, "what failed, and nothing else, has a reason")
	case *provider.Call:
		require.NotEmpty(t, e.CallID)
		require.NotEmpty(t, e.Chat.ChatID)
		require.Contains(t, []provider.CallStatus{
			provider.CallRinging, provider.CallAccepted, provider.CallRejected, provider.CallMissed, provider.CallEnded,
		}, e.Status)
		require.GreaterOrEqual(t, e.Duration, e.Duration.Abs(), "a call takes time")
	case *provider.ContactChange:
		wholeContact(t, e)
	case *provider.GroupChange:
		require.True(t, e.Chat.Group)
		require.NotEmpty(t, e.Chat.ChatID)
	case *provider.Handover:
		require.NotEmpty(t, e.What)
		require.True(t, e.Chat.ChatID != "" || e.Owner == provider.HandoverSame, "a conversation changes hands in its chat")
	case *provider.TemplateChange:
		require.NotEmpty(t, e.TemplateID+e.Name, "a change names its template")
	case *provider.Health:
		require.Contains(t, []provider.HealthLevel{
			provider.HealthNews, provider.HealthGood, provider.HealthWarning, provider.HealthStopped,
		}, e.Level)
	}
}

func wholeMessage(t testing.TB, m *provider.Message) {
	t.Helper()
	require.NotEmpty(t, m.ID)
	require.NotEmpty(t, m.Chat.ChatID)
	require.NotNil(t, m.Content)
	require.NotEmpty(t, m.Content.Type())
	require.True(t, m.Mine || m.OwnID+m.App == "", "only the account's own come back")
	require.True(t, m.Forwarded || !m.FrequentlyForwarded, "what went through many hands was forwarded")
	require.True(t, m.Historical || m.Status == provider.StatusPending, "a new message has no status yet")
	require.False(t, m.WindowUntil.Before(m.At) && !m.WindowUntil.IsZero(), "a window ends after it began")
	require.True(t, m.Referral == nil || json.Valid(m.Referral.Body))
	switch c := m.Content.(type) {
	case provider.Media:
		require.Contains(t, []provider.MediaKind{
			provider.Image, provider.Video, provider.Audio, provider.Document, provider.Sticker, provider.Placeholder,
		}, c.Kind)
		require.True(t, len(c.SHA256) == 0 || len(c.SHA256) == 32)
		require.GreaterOrEqual(t, c.Size, int64(0))
		require.Nil(t, c.Open, "a received file is fetched")
	case provider.Reaction:
		require.NotEmpty(t, c.MessageID)
	case provider.Revoke:
		require.NotEmpty(t, c.MessageID)
	case provider.Vote:
		require.NotEmpty(t, c.MessageID)
	case provider.Reply:
		require.NotEmpty(t, c.To)
	case provider.Unknown:
		require.True(t, c.Body == nil || json.Valid(c.Body))
	}
	_, err := json.Marshal(m.Content)
	require.NoError(t, err)
}

func wholeContact(t testing.TB, c *provider.ContactChange) {
	t.Helper()
	require.NotEmpty(t, c.Chat.ChatID)
	require.Contains(t, []provider.ContactChangeKind{
		provider.ContactMoved, provider.ContactIdentity, provider.ContactSaved,
		provider.ContactForgotten, provider.ContactOptedOut, provider.ContactOptedIn, provider.ContactLinked, provider.ContactUnlinked,
	}, c.What)
	require.Equal(t, c.What == provider.ContactMoved, c.To.ChatID != "", "who moved went somewhere")
}

// callerReports: each report of the network is parsed, to the same events each
// time, and a damaged body does no harm.
func callerReports(t *testing.T, f *fixture) {
	c, ok := f.Provider.(provider.Caller)
	if !ok || f.Callbacks == nil {
		return
	}
	for name, body := range f.Callbacks(t) {
		whole := slices.Clone(body)
		parts, err := c.Route(body)
		require.NoError(t, err, name)
		require.NotEmpty(t, parts, name)
		for _, part := range parts {
			events, bad := c.Parse(part)
			require.Empty(t, bad, name)
			require.NotEmpty(t, events, name)
			for _, e := range events {
				Whole(t, e)
			}
			again, _ := c.Parse(part)
			require.Equal(t, events, again, name)
		}
		require.Equal(t, whole, body, "the body is as it was")
		damaged(t, c, body)
	}
}

// damaged parses a body with one byte changed, at many places.
func damaged(t *testing.T, c provider.Caller, body []byte) {
	t.Helper()
	const places = 200
	for n := range places {
		at := n * len(body) / places
		changed := slices.Clone(body)
		changed[at] = "{}[]\",:0nu"[n%10]
		parts, _ := c.Route(changed)
		for _, part := range parts {
			events, _ := c.Parse(part)
			for _, e := range events {
				Whole(t, e)
			}
		}
	}
}
