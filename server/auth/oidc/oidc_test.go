package oidc_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit/idp"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

const callback = "http://localhost:3000/user/oidc/callback"

var ana = idp.User{Subject: "id-of-ana", Email: "ana@example.org", Name: "Ana", Verified: true}

func setup(t *testing.T, change func(*oidc.Config)) (*oidc.Provider, *idp.Provider) {
	t.Helper()
	there := idp.New(t, callback)
	there.LogIn(ana)
	cfg := oidc.Config{Issuer: there.Issuer, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret, RedirectURL: callback}
	if change != nil {
		change(&cfg)
	}
	return oidc.New(cfg), there
}

func TestProvider_SignsIn(t *testing.T) {
	t.Parallel()
	p, there := setup(t, nil)
	link, flow, err := p.Begin(t.Context())
	require.NoError(t, err)
	at, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, "S256", at.Query().Get("code_challenge_method"))
	require.NotContains(t, link, flow.Verifier)
	query := there.Authorize(t, link)
	who, err := p.Finish(t.Context(), flow, query)
	require.NoError(t, err)
	require.Equal(t, there.Issuer, who.Issuer)
	require.Equal(t, "id-of-ana", who.Subject)
	require.Equal(t, "ana@example.org", who.Email)
	require.True(t, who.EmailVerified)

	_, err = p.Finish(t.Context(), flow, query)
	require.ErrorIs(t, err, oidc.ErrToken, "a code works once")
}

func TestProvider_Refuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		change func(there *idp.Provider, f *oidc.Flow, query url.Values)
		want   error
	}{
		"another state":     {func(_ *idp.Provider, _ *oidc.Flow, q url.Values) { q.Set("state", "x") }, oidc.ErrFlow},
		"no state":          {func(_ *idp.Provider, f *oidc.Flow, q url.Values) { f.State = ""; q.Del("state") }, oidc.ErrFlow},
		"a browser's own":   {func(_ *idp.Provider, f *oidc.Flow, _ url.Values) { *f = oidc.Flow{} }, oidc.ErrFlow},
		"too late":          {func(_ *idp.Provider, f *oidc.Flow, _ url.Values) { f.Expires = now.Add(-time.Second) }, oidc.ErrFlow},
		"another verifier":  {func(_ *idp.Provider, f *oidc.Flow, _ url.Values) { f.Verifier += "x" }, oidc.ErrToken},
		"another nonce":     {func(_ *idp.Provider, f *oidc.Flow, _ url.Values) { f.Nonce = "x" }, oidc.ErrToken},
		"another code":      {func(_ *idp.Provider, _ *oidc.Flow, q url.Values) { q.Set("code", "x") }, oidc.ErrToken},
		"the user's no":     {func(_ *idp.Provider, _ *oidc.Flow, q url.Values) { q.Set("error", "access_denied") }, oidc.ErrDenied},
		"a provider's fall": {func(there *idp.Provider, _ *oidc.Flow, _ url.Values) { there.Stop(true) }, oidc.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, there := setup(t, nil)
			link, flow, err := p.Begin(t.Context())
			require.NoError(t, err)
			query := there.Authorize(t, link)
			c.change(there, &flow, query)
			_, err = p.Finish(t.Context(), flow, query)
			require.ErrorIs(t, err, c.want)
		})
	}
}

// TestProvider_NonceOfAnother takes no token that was made for another request.
func TestProvider_NonceOfAnother(t *testing.T) {
	t.Parallel()
	p, there := setup(t, nil)
	there.Nonce("of an attacker's own request")
	link, flow, err := p.Begin(t.Context())
	require.NoError(t, err)
	_, err = p.Finish(t.Context(), flow, there.Authorize(t, link))
	require.ErrorIs(t, err, oidc.ErrToken)
}

// TestProvider_ExpiredToken takes no token after its time.
func TestProvider_ExpiredToken(t *testing.T) {
	t.Parallel()
	p, there := setup(t, func(c *oidc.Config) { c.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } })
	link, flow, err := p.Begin(t.Context())
	require.NoError(t, err)
	_, err = p.Finish(t.Context(), flow, there.Authorize(t, link))
	require.ErrorIs(t, err, oidc.ErrToken)
	require.ErrorContains(t, err, "expired")
}

// TestProvider_RotatesKeys follows a provider that replaces its key.
func TestProvider_RotatesKeys(t *testing.T) {
	t.Parallel()
	p, there := setup(t, nil)
	for range 3 {
		link, flow, err := p.Begin(t.Context())
		require.NoError(t, err)
		_, err = p.Finish(t.Context(), flow, there.Authorize(t, link))
		require.NoError(t, err)
		there.Rotate(t)
	}
}

// TestProvider_IsDownAtFirst asks again after a failure.
func TestProvider_IsDownAtFirst(t *testing.T) {
	t.Parallel()
	p, there := setup(t, nil)
	there.Stop(true)
	_, _, err := p.Begin(t.Context())
	require.ErrorIs(t, err, oidc.ErrUnavailable)
	there.Stop(false)
	_, _, err = p.Begin(t.Context())
	require.NoError(t, err)
}

// TestProvider_OtherIssuer believes nobody who speaks for another.
func TestProvider_OtherIssuer(t *testing.T) {
	t.Parallel()
	p, _ := setup(t, func(c *oidc.Config) { c.Issuer += "/" })
	_, _, err := p.Begin(t.Context())
	require.ErrorIs(t, err, oidc.ErrUnavailable)
}
