package cloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// expected is what a correct parser makes of an item of the shared fixtures.
type expected struct {
	Kind, Status                    string
	ID, From, Type, Text, Timestamp *string
	FromUserID                      string `json:"from_user_id"`
	ContactName                     string `json:"contact_name"`
	Username                        string
	ReplyTo                         string `json:"reply_to"`
	Forwarded                       bool
	FrequentlyForwarded             bool   `json:"frequently_forwarded"`
	GroupID                         string `json:"group_id"`
	UnsupportedType                 string `json:"unsupported_type"`
	CallbackData                    string `json:"callback_data"`
	Participant                     string
	ErrorCode                       int    `json:"error_code"`
	PhoneNumberID                   string `json:"phone_number_id"`
	ReferralSourceID                string `json:"referral_source_id"`
	Advisory                        bool
}

// interpreted says whether this version makes more of it than a raw event.
func (x *expected) interpreted() bool {
	return x.Kind == "status" || x.Kind == "message" && (*x.Type == "text" || *x.Type == "unsupported")
}

// rawKind is the kind of the raw event that stands for it. A history that was
// declined holds its error inside: it is kept whole.
func (x *expected) rawKind(declined bool) string {
	switch {
	case x.Kind == "message":
		return *x.Type
	case declined:
		return "history"
	default:
		return x.Kind
	}
}

func TestSharedCallbacks(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures")
	var index []struct{ Name, Platform, Kind string }
	load(t, filepath.Join(folder, "index.json"), &index)
	n := 0
	for _, x := range index {
		if x.Platform != "cloud" || x.Kind != "webhook" {
			continue
		}
		n++
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(filepath.Join(folder, "cloud", x.Name+".json"))
			require.NoError(t, err)
			var want []expected
			load(t, filepath.Join(folder, "cloud", x.Name+".expect.json"), &want)
			events, bad := read(t, body)
			require.Empty(t, bad)
			compare(t, want, events, x.Name == "history_declined")
		})
	}
	require.Greater(t, n, 50)
}

func load(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

func compare(t *testing.T, want []expected, events []provider.Event, declined bool) {
	t.Helper()
	var kinds []string
	events = slices.DeleteFunc(slices.Clone(events), func(e provider.Event) bool {
		raw, ok := e.(*provider.Raw)
		if ok {
			kinds = append(kinds, raw.Kind)
		}
		return ok
	})
	var wantKinds []string
	for _, x := range want {
		if !x.interpreted() {
			wantKinds = append(wantKinds, x.rawKind(declined))
			continue
		}
		require.NotEmpty(t, events, "too few events")
		x.compare(t, events[0])
		events = events[1:]
	}
	require.Empty(t, events, "too many events")
	slices.Sort(kinds)
	slices.Sort(wantKinds)
	require.Equal(t, slices.Compact(wantKinds), slices.Compact(kinds))
}

func (x *expected) compare(t *testing.T, event provider.Event) {
	t.Helper()
	switch e := event.(type) {
	case *provider.Message:
		x.message(t, e)
	case *provider.StatusChange:
		require.Equal(t, "status", x.Kind)
		require.Equal(t, *x.ID, e.MessageID)
		require.Equal(t, map[string]provider.Status{
			"sent": provider.StatusSending, "delivered": provider.StatusDelivered, "read": provider.StatusRead,
			"played": provider.StatusPlayed, "failed": provider.StatusFail,
		}[x.Status], e.Status)
		require.Equal(t, x.CallbackData, e.OwnID)
		require.Equal(t, x.Participant, e.Participant)
		require.Equal(t, *x.Timestamp, e.At.Format(time.RFC3339))
		if x.Status == "failed" {
			require.Equal(t, fmt.Sprint(x.ErrorCode), e.Error.Code)
			require.NotEmpty(t, e.Error.Message)
		} else {
			require.Nil(t, e.Error)
		}
	}
}

func (x *expected) message(t *testing.T, m *provider.Message) {
	t.Helper()
	require.Equal(t, "message", x.Kind)
	require.Equal(t, *x.ID, m.ID)
	if x.From != nil {
		require.Equal(t, *x.From, m.From.ChatID)
		require.Equal(t, *x.From, m.From.Phone)
	} else {
		require.Equal(t, x.FromUserID, m.From.ChatID)
		require.Empty(t, m.From.Phone)
	}
	require.Equal(t, x.FromUserID, m.From.UserID)
	require.Equal(t, x.ContactName, m.From.Name)
	require.Equal(t, x.Username, m.From.Username)
	require.Equal(t, x.ReplyTo, m.ReplyTo)
	require.Equal(t, x.Forwarded || x.FrequentlyForwarded, m.Forwarded)
	require.Equal(t, *x.Timestamp, m.At.Format(time.RFC3339))
	if *x.Type == "text" {
		require.Equal(t, provider.Text{Text: *x.Text}, m.Content)
	} else {
		require.Equal(t, provider.Unknown{Kind: x.UnsupportedType}, m.Content)
	}
	if x.GroupID != "" {
		require.Equal(t, provider.Address{ChatID: x.GroupID + "@g.us", Group: true}, m.Chat)
	} else {
		require.Equal(t, m.From.Address, m.Chat)
	}
	if x.ReferralSourceID != "" {
		require.Contains(t, string(m.Referral), x.ReferralSourceID)
	} else {
		require.Nil(t, m.Referral)
	}
}
