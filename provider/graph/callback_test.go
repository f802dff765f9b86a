package graph_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

func TestChallenge(t *testing.T) {
	t.Parallel()
	knows := func(token string) bool { return token == "a+b c&d" }
	for query, want := range map[string]string{
		"hub.mode=subscribe&hub.challenge=42&hub.verify_token=a%2Bb%20c%26d":   "42",
		"hub.mode=subscribe&hub.challenge=42&hub.verify_token=wrong":           "",
		"hub.mode=unsubscribe&hub.challenge=42&hub.verify_token=a%2Bb%20c%26d": "",
		"hub.mode=subscribe&hub.verify_token=a%2Bb%20c%26d":                    "",
		"hub.mode=subscribe&hub.challenge=42":                                  "",
		"":                                                                     "",
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		text, ok := provider.Challenge(values, knows)
		require.Equal(t, want, text, query)
		require.Equal(t, want != "", ok)
	}
	_, ok := provider.Challenge(url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {"1"}, "hub.verify_token": {""}}, func(string) bool { return true })
	require.False(t, ok, "an empty token is nobody's")
}

func TestSharedChallenges(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name, Query string
		Token       string `json:"verify_token"`
		Status      int
		Body        string
	}
	shared(t, "verify_vectors.json", &vectors)
	for _, v := range vectors {
		values, err := url.ParseQuery(v.Query)
		require.NoError(t, err)
		text, ok := provider.Challenge(values, func(token string) bool { return token == v.Token })
		require.Equal(t, v.Status == 200, ok, v.Name)
		require.Equal(t, v.Body, text, v.Name)
	}
}

func shared(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
	require.NotEmpty(t, into)
}

func TestSignature(t *testing.T) {
	t.Parallel()
	body := []byte(`{"a":"\u00fc \/"}`)
	good := graph.Sign("secret", body)
	header := func(values ...string) http.Header { return http.Header{graph.SignatureHeader: values} }
	require.True(t, graph.Verify("secret", header(good), body))
	require.True(t, graph.Verify("secret", header(graph.Sign("secret", nil)), nil), "no bytes have a signature too")
	for name, h := range map[string]http.Header{
		"none":             {},
		"empty":            header(""),
		"two":              header(good, good),
		"another's":        header(graph.Sign("other", body)),
		"another body's":   header(graph.Sign("secret", []byte(`{"a":"ü /"}`))),
		"without prefix":   header(strings.TrimPrefix(good, "sha256=")),
		"another prefix":   header(strings.Replace(good, "sha256", "sha1", 1)),
		"upper case":       header("sha256=" + strings.ToUpper(strings.TrimPrefix(good, "sha256="))),
		"short":            header(good[:len(good)-1]),
		"long":             header(good + "0"),
		"space":            header(" " + good),
		"not hexadecimal":  header("sha256=" + strings.Repeat("z", 64)),
		"the older header": {"X-Hub-Signature": {good}},
	} {
		require.False(t, graph.Verify("secret", h, body), name)
	}
	require.False(t, graph.Verify("", header(graph.Sign("", body)), body), "no secret verifies nothing")
}

func TestSharedSignatures(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name   string
		Secret string `json:"app_secret"`
		Header string `json:"header_name"`
		Value  string `json:"header_value"`
		Body   string `json:"body_base64"`
		Valid  bool
	}
	shared(t, "signature_vectors.json", &vectors)
	for _, v := range vectors {
		body, err := base64.StdEncoding.DecodeString(v.Body)
		require.NoError(t, err)
		header := http.Header{}
		header.Set(v.Header, v.Value)
		require.Equal(t, v.Valid, graph.Verify(v.Secret, header, body), v.Name)
		if v.Valid {
			require.Equal(t, v.Value, graph.Sign(v.Secret, body), v.Name)
		}
	}
}

func FuzzSignatureHeader(f *testing.F) {
	body := []byte(`{"object":"page"}`)
	good := graph.Sign("secret", body)
	for _, seed := range []string{good, "", "sha256=", "sha1=00", strings.ToUpper(good), good + good} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		require.Equal(t, value == good, graph.Verify("secret", http.Header{graph.SignatureHeader: {value}}, body))
	})
}
