package webhook_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

func secretOf(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", n)))
}

func TestEndpoints(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		const url = "https://hooks.example.com/in?x=1"
		ep, created, err := f.Put(t.Context(), webhook.Settings{
			Scope: scope, URL: url, Headers: []webhook.Header{{Key: "X-Token", Value: "one"}, {Key: "Accept", Value: "*/*"}},
		})
		require.NoError(t, err)
		require.True(t, created)
		require.True(t, strings.HasPrefix(ep.Secret, "whsec_"))
		require.Equal(t, []webhook.Header{{Key: "X-Token", Value: webhook.Mask}, {Key: "Accept", Value: webhook.Mask}}, ep.Headers)
		require.Equal(t, []string{"message", "status", "data", "calls", "subscription"}, ep.Events)
		require.Equal(t, []string{}, ep.Include)
		require.True(t, ep.Enabled)
		require.Equal(t, webhook.StateOK, ep.State)
		require.Equal(t, scope, ep.Scope)
		require.Empty(t, ep.LastError)

		t.Run("the same URL is updated", func(t *testing.T) {
			again, created, err := f.Put(t.Context(), webhook.Settings{
				Scope: scope, URL: url, Headers: []webhook.Header{{Key: "X-Other", Value: "two"}}, Events: []string{"messages"},
			})
			require.NoError(t, err)
			require.False(t, created)
			require.Empty(t, again.Secret)
			require.Equal(t, ep.ID, again.ID)
			require.Equal(t, []webhook.Header{{Key: "X-Other", Value: webhook.Mask}}, again.Headers)
			require.Equal(t, []string{"message"}, again.Events)
			again, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url})
			require.NoError(t, err)
			require.Equal(t, []webhook.Header{{Key: "X-Other", Value: webhook.Mask}}, again.Headers)
			require.Equal(t, []string{"message"}, again.Events)
		})
		t.Run("list and get", func(t *testing.T) {
			other, created, err := f.Put(t.Context(), webhook.Settings{Scope: "8", URL: url, Secret: secretOf(24)})
			require.NoError(t, err)
			require.True(t, created)
			require.Equal(t, secretOf(24), other.Secret)
			all, err := f.Endpoints(t.Context(), scope)
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, ep.ID, all[0].ID)
			require.Empty(t, all[0].Secret)
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			require.Equal(t, all[0], got)
			none, err := f.Endpoints(t.Context(), "9")
			require.NoError(t, err)
			require.Equal(t, []webhook.Endpoint{}, none)
		})
		t.Run("another account finds nothing", func(t *testing.T) {
			stranger := f.For("stranger")
			_, err := stranger.Endpoint(t.Context(), ep.ID)
			require.ErrorIs(t, err, webhook.ErrNotFound)
			_, err = stranger.Update(t.Context(), ep.ID, webhook.Change{})
			require.ErrorIs(t, err, webhook.ErrNotFound)
			require.ErrorIs(t, stranger.Delete(t.Context(), ep.ID), webhook.ErrNotFound)
			_, err = stranger.Test(t.Context(), ep.ID, event("a", 1))
			require.ErrorIs(t, err, webhook.ErrNotFound)
			all, err := stranger.Endpoints(t.Context(), scope)
			require.NoError(t, err)
			require.Empty(t, all)
		})
		t.Run("update", func(t *testing.T) {
			off := false
			got, err := f.Update(t.Context(), ep.ID, webhook.Change{
				Events: []string{"session", "statuses", "status"}, Include: []string{"extracted"}, Enabled: &off,
			})
			require.NoError(t, err)
			require.Equal(t, []string{"status", "session"}, got.Events)
			require.Equal(t, []string{"extracted"}, got.Include)
			require.False(t, got.Enabled)
			require.Equal(t, webhook.StateDisabled, got.State)
			require.Empty(t, got.Secret)
			got, err = f.Update(t.Context(), ep.ID, webhook.Change{RotateSecret: true, Include: []string{}})
			require.NoError(t, err)
			require.NotEmpty(t, got.Secret)
			require.NotEqual(t, ep.Secret, got.Secret)
			require.Equal(t, []string{}, got.Include)
			require.Equal(t, webhook.StateDisabled, got.State)
		})
		t.Run("delete", func(t *testing.T) {
			require.NoError(t, f.Delete(t.Context(), ep.ID))
			require.ErrorIs(t, f.Delete(t.Context(), ep.ID), webhook.ErrNotFound)
			_, err := f.Endpoint(t.Context(), ep.ID)
			require.ErrorIs(t, err, webhook.ErrNotFound)
		})
		t.Run("a scope with all that is in it", func(t *testing.T) {
			f.publish(t, event("a", 1))
			require.NoError(t, f.DeleteScope(t.Context(), "8"))
			all, err := f.Endpoints(t.Context(), "8")
			require.NoError(t, err)
			require.Empty(t, all)
		})
	})
}

func TestMaskedHeadersStay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		f := running(t, db, webhook.Options{})
		ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL, Headers: []webhook.Header{
			{Key: "X-A", Value: "a1"}, {Key: "x-a", Value: "a2"}, {Key: "X-B", Value: "b"},
		}})
		require.NoError(t, err)
		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Headers: []webhook.Header{
			{Key: "X-A", Value: "new"}, {Key: "X-A", Value: webhook.Mask}, {Key: "X-B", Value: webhook.Mask}, {Key: "X-C", Value: "c"},
		}})
		require.NoError(t, err)
		f.publish(t, event("k", 1))
		h := rec.wait(t, 1)[0].header
		require.Equal(t, []string{"new", "a2"}, h.Values("X-A"))
		require.Equal(t, "b", h.Get("X-B"))
		require.Equal(t, "c", h.Get("X-C"))

		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Headers: []webhook.Header{{Key: "X-New", Value: webhook.Mask}}})
		requireInvalid(t, err, "headers[0].value")
		_, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + "/other", Headers: []webhook.Header{{Key: "X", Value: webhook.Mask}}})
		requireInvalid(t, err, "headers[0].value")
	})
}

func requireInvalid(t testing.TB, err error, field string) {
	t.Helper()
	var bad *webhook.Invalid
	require.ErrorAs(t, err, &bad)
	require.Equal(t, field, bad.Field)
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{Allow: []string{}})
	const url = "https://hooks.example.com/"
	header := func(k, v string) webhook.Settings {
		return webhook.Settings{URL: url, Headers: []webhook.Header{{Key: "Ok", Value: "ok"}, {Key: k, Value: v}}}
	}
	for i, c := range []struct {
		s     webhook.Settings
		field string
		text  string
	}{
		{webhook.Settings{}, "url", "missing"},
		{webhook.Settings{URL: "hooks.example.com"}, "url", "absolute"},
		{webhook.Settings{URL: "ftp://hooks.example.com"}, "url", "http or https"},
		{webhook.Settings{URL: "https:///x"}, "url", "host"},
		{webhook.Settings{URL: url + strings.Repeat("x", 2048)}, "url", "2048"},
		{webhook.Settings{URL: "https://user:pw@hooks.example.com/"}, "url", "user name"},
		{webhook.Settings{URL: url + "#a"}, "url", "fragment"},
		{webhook.Settings{URL: url + "#"}, "url", "fragment"},
		{webhook.Settings{URL: "http://127.0.0.1:9/"}, "url", "--webhook-allow"},
		{webhook.Settings{URL: "http://localhost/"}, "url", "--webhook-allow"},
		{webhook.Settings{URL: "http://169.254.169.254/"}, "url", "--webhook-allow"},
		{webhook.Settings{URL: webhook.EchoURL}, "url", "not available"},
		{header("", "x"), "headers[1].key", "missing"},
		{header("a b", "x"), "headers[1].key", "character"},
		{header("a:", "x"), "headers[1].key", "character"},
		{header("ä", "x"), "headers[1].key", "character"},
		{header(strings.Repeat("k", 257), "x"), "headers[1].key", "256"},
		{header("Host", "x"), "headers[1].key", "itself"},
		{header("content-LENGTH", "x"), "headers[1].key", "itself"},
		{header("Webhook-Signature", "x"), "headers[1].key", "itself"},
		{header("X-Trunkline-Event", "x"), "headers[1].key", "itself"},
		{header("Transfer-Encoding", "x"), "headers[1].key", "itself"},
		{header("X", "a\r\nb"), "headers[1].value", "line break"},
		{header("X", "a\nb"), "headers[1].value", "line break"},
		{header("X", "a\x00"), "headers[1].value", "control"},
		{header("X", strings.Repeat("v", 8193)), "headers[1].value", "8192"},
		{webhook.Settings{URL: url, Headers: make([]webhook.Header, 51)}, "headers", "50"},
		{webhook.Settings{URL: url, Events: []string{}}, "events", "at least one"},
		{webhook.Settings{URL: url, Events: []string{"message", "mesage"}}, "events[1]", "message, status"},
		{webhook.Settings{URL: url, Include: []string{"extracted", "x"}}, "include[1]", "extracted"},
		{webhook.Settings{URL: url, Secret: "secret"}, "secret", "whsec_"},
		{webhook.Settings{URL: url, Secret: secretOf(23)}, "secret", "24 to 64"},
		{webhook.Settings{URL: url, Secret: secretOf(65)}, "secret", "24 to 64"},
		{webhook.Settings{URL: url, Secret: "whsec_%%%"}, "secret", "base64"},
		{webhook.Settings{URL: url, Secret: strings.TrimPrefix(secretOf(32), "whsec_")}, "secret", "whsec_"},
	} {
		t.Run(fmt.Sprint(i, " ", c.field, " ", c.text), func(t *testing.T) {
			t.Parallel()
			c.s.Scope = scope
			_, _, err := f.Put(t.Context(), c.s)
			requireInvalid(t, err, c.field)
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestEndpointLimit(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{})
	for i := range 100 {
		f.put(t, fmt.Sprintf("https://hooks.example.com/%d", i))
	}
	_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: "https://hooks.example.com/100"})
	requireInvalid(t, err, "url")
	_, created, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: "https://hooks.example.com/7"})
	require.NoError(t, err)
	require.False(t, created)
}

// TestSealedAtRest looks for secrets in the bytes of the database.
func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	url := testkit.SQLiteURL(t)
	db := testkit.Open(t, url)
	f := setup(t, db, webhook.Options{})
	secret := secretOf(40)
	ep, _, err := f.Put(t.Context(), webhook.Settings{
		Scope: scope, URL: "https://hooks.example.com/visible", Secret: secret,
		Headers: []webhook.Header{{Key: "Authorization", Value: "Bearer canary-in-a-coal-mine"}},
	})
	require.NoError(t, err)
	_, err = f.Update(t.Context(), ep.ID, webhook.Change{RotateSecret: true})
	require.NoError(t, err)
	path := strings.TrimPrefix(strings.Split(url, "?")[0], "sqlite://")
	var stored []byte
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		stored = append(stored, b...)
	}
	require.Contains(t, string(stored), "hooks.example.com/visible")
	require.NotContains(t, string(stored), "canary")
	require.NotContains(t, string(stored), secret)
	require.NotContains(t, string(stored), strings.TrimPrefix(secret, "whsec_")[:16])
	require.NotContains(t, string(stored), strings.Repeat("s", 16))
}

func TestSecretsAreRequired(t *testing.T) {
	t.Parallel()
	_, err := webhook.New(t.Context(), testkit.Open(t, testkit.SQLiteURL(t)), nil)
	require.ErrorContains(t, err, "Options.Secrets: no secret")
}
