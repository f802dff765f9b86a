package cloud_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	lineID    = "700100200300"
	accountID = "800100200300"
)

// settings are those of the fake's line, as people paste them.
func settings() provider.Settings {
	return provider.Settings{
		"phoneNumberId": " " + lineID, "businessAccountId": accountID, "accessToken": "token\n",
		"appSecret": "app secret", "verifyToken": "verify word",
	}
}

func fakeLine() graphtest.Line {
	return graphtest.Line{
		PhoneNumberID: lineID, BusinessAccountID: accountID, AccessToken: "token",
		AppSecret: "app secret", VerifyToken: "verify word",
	}
}

// setup opens the line against a fake.
func setup(t *testing.T, o graphtest.Options) (*graphtest.Server, *cloud.Provider, provider.Session) {
	t.Helper()
	o.Lines = append(o.Lines, fakeLine())
	fake := graphtest.Start(&o)
	t.Cleanup(fake.Close)
	p := cloud.New(&cloud.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	session, err := p.Open(t.Context(), provider.Reference{ID: 1, Name: "Shop", Settings: settings()}, nil)
	require.NoError(t, err)
	return fake, p, session
}

// summary tells events apart in a line each.
func summary(events []provider.Event) []string {
	lines := []string{}
	for _, e := range events {
		switch e := e.(type) {
		case *provider.Message:
			from := fmt.Sprintf("%s from %s (%s)", e.ID, e.Chat.ChatID, e.From.Name)
			if text, ok := e.Content.(provider.Text); ok {
				lines = append(lines, "text "+from+": "+text.Text)
			} else {
				lines = append(lines, "unknown "+from)
			}
		case *provider.StatusChange:
			lines = append(lines, "status "+e.MessageID+" "+e.Status.String())
		case *provider.Raw:
			if strings.HasPrefix(e.ID, "wamid.") {
				lines = append(lines, "raw "+e.Kind+" "+e.ID)
			} else {
				lines = append(lines, "raw "+e.Kind)
			}
		}
	}
	return lines
}
