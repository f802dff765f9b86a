package provider_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

func TestSettingsAreLoggedWithoutValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("opened", slog.Any("settings", provider.Settings{"accessToken": "secret", "pageId": "42"}))
	require.Contains(t, log.String(), "[accessToken pageId]")
	require.NotContains(t, log.String(), "secret")
}

func TestRemoteJID(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]provider.Address{
		"16505551234::single": {ChatID: "16505551234@s.whatsapp.net", Phone: "16505551234", UserID: "US.1", LID: "9"},
		"US.1::single":        {ChatID: "US.1", UserID: "US.1"},
		"9::single":           {ChatID: "9@lid", LID: "9"},
		"ana::single":         {ChatID: "ana@sandbox"},
		"120363::group":       {ChatID: "120363@g.us", Group: true},
		"plain::single":       {ChatID: "plain"},
	} {
		require.Equal(t, want, a.RemoteJID())
	}
}

func TestErrorsSayWhatAndWhy(t *testing.T) {
	t.Parallel()
	cause := errors.New("cut")
	for want, err := range map[string]error{
		"provider: rate limited (4): slower":                          &provider.RateLimited{Code: "4", Message: "slower"},
		"provider: window closed":                                     &provider.WindowClosed{},
		"provider: bad recipient: nobody":                             &provider.BadRecipient{Message: "nobody"},
		"provider: credentials refused (190)":                         &provider.AuthExpired{Code: "190"},
		"provider: a poll is not supported by this kind of reference": &provider.Unsupported{What: "a poll"},
		"provider: rejected (100): no":                                &provider.Rejected{Code: "100", Message: "no"},
		"provider: may have been sent: cut":                           &provider.Ambiguous{Err: cause},
		"provider: not sent: cut":                                     &provider.Temporary{Err: cause},
	} {
		require.EqualError(t, err, want)
	}
	require.ErrorIs(t, &provider.Ambiguous{Err: cause}, cause)
	require.ErrorIs(t, &provider.Temporary{Err: cause}, cause)
}

func TestStatusNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "PENDING", provider.StatusPending.String())
	require.Equal(t, "PLAYED", provider.StatusPlayed.String())
	require.Equal(t, "PENDING", provider.Status(99).String())
	require.Less(t, provider.StatusFail, provider.StatusDelivered, "delivery outdoes a failure")
}
