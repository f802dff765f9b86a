package cloud_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	referenceID = "700100200300"
	accountID   = "800100200300"
)

// settings are those of the fake's reference, as people paste them.
func settings() provider.Settings {
	return provider.Settings{
		"phoneNumberId": " " + referenceID, "businessAccountId": accountID, "accessToken": "token\n",
		"appSecret": "app secret", "verifyToken": "verify word",
	}
}

func fakeReference() graphtest.Number {
	return graphtest.Number{
		PhoneNumberID: referenceID, BusinessAccountID: accountID, AccessToken: "token",
		AppSecret: "app secret", VerifyToken: "verify word",
	}
}

// setup opens the reference against a fake.
func setup(t *testing.T, o graphtest.Options) (*graphtest.Server, *cloud.Provider, provider.Session) {
	t.Helper()
	o.Numbers = append(o.Numbers, fakeReference())
	fake := graphtest.Start(&o)
	t.Cleanup(fake.Close)
	p := cloud.New(&cloud.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	session, err := p.Open(t.Context(), provider.Reference{ID: 1, Name: "Shop", Settings: settings()}, nil)
	require.NoError(t, err)
	return fake, p, session
}
