package cloud_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// checked opens a reference as it is at the network and checks it.
func checked(t *testing.T, ref graphtest.Number, faults ...graphtest.Fault) provider.Account {
	t.Helper()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{ref}})
	t.Cleanup(fake.Close)
	fake.Fail(faults...)
	session, err := cloud.New(&cloud.Options{GraphURL: fake.URL}).Open(t.Context(), provider.Reference{Settings: settings()}, nil)
	require.NoError(t, err)
	account, err := session.(provider.Checker).Check(t.Context())
	require.NoError(t, err)
	return account
}

// health are the level, state, detail and limit of each report.
func health(a provider.Account) map[string][]any {
	out := map[string][]any{}
	for _, h := range a.Health {
		out[h.Kind] = []any{h.Level, h.State, h.Detail, h.Limit}
	}
	return out
}

func TestHealthOfAReference(t *testing.T) {
	t.Parallel()
	soon, far := time.Now().Add(48*time.Hour), time.Now().Add(1000*time.Hour)
	ends := func(at time.Time) string { return "ends " + at.UTC().Format(time.RFC3339) }
	good := []any{provider.HealthGood, "GREEN", "CONNECTED, STANDARD, AVAILABLE", "TIER_2K"}
	valid := []any{provider.HealthGood, "VALID", "", ""}
	for name, c := range map[string]struct {
		change func(l *graphtest.Number)
		fault  []graphtest.Fault
		want   map[string][]any
	}{
		"good": {func(*graphtest.Number) {}, nil, map[string][]any{"phone_number": good, "access_token": valid}},
		"low quality": {
			func(l *graphtest.Number) { l.Quality, l.Limit, l.Throughput = "RED", "TIER_250", "HIGH" }, nil,
			map[string][]any{"phone_number": {provider.HealthWarning, "RED", "CONNECTED, HIGH, AVAILABLE", "TIER_250"}, "access_token": valid},
		},
		"token ends soon": {
			func(l *graphtest.Number) { l.TokenExpires = soon }, nil,
			map[string][]any{"phone_number": good, "access_token": {provider.HealthWarning, "EXPIRES", ends(soon), ""}},
		},
		"token ends later": {
			func(l *graphtest.Number) { l.TokenExpires = far }, nil,
			map[string][]any{"phone_number": good, "access_token": {provider.HealthGood, "VALID", ends(far), ""}},
		},
		"token cannot be asked about": {
			func(*graphtest.Number) {},
			[]graphtest.Fault{{Path: "/debug_token", Code: 100, Message: "no"}},
			map[string][]any{"phone_number": good},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := fakeReference()
			c.change(&ref)
			account := checked(t, ref, c.fault...)
			require.Equal(t, c.want, health(account))
			require.Equal(t, "15550783881", account.Health[0].Phone)
		})
	}
}

func TestNumbersOfTheAccount(t *testing.T) {
	t.Parallel()
	other := fakeReference()
	other.PhoneNumberID, other.DisplayNumber = "700100200301", "+1 555-000-0000"
	fake, _, _ := setup(t, graphtest.Options{Numbers: []graphtest.Number{other}})
	c, err := client(fake)
	require.NoError(t, err)
	numbers, next, err := c.Numbers(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []string{"700100200301", referenceID}, []string{numbers[0].ID, numbers[1].ID})
	require.NoError(t, c.SetProfile(t.Context(), cloud.Profile{About: "Open all day", Vertical: "RETAIL"}))
	require.NoError(t, c.SetProfile(t.Context(), cloud.Profile{About: "Closed"}))
	profile, err := c.Profile(t.Context())
	require.NoError(t, err)
	require.Equal(t, cloud.Profile{About: "Closed", Vertical: "RETAIL"}, profile)
}
