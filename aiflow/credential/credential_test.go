package credential_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	sealing = "a secret of tests that is long enough"
	canary  = "canary-in-a-coal-mine"
)

func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, credential.Migrate(t.Context(), db))
		fn(t, db)
	})
}

func service(t *testing.T, db *sqlx.DB, opts credential.Options) *credential.Service {
	t.Helper()
	if opts.Secrets == nil {
		opts.Secrets = []string{sealing}
	}
	s, err := credential.New(t.Context(), db, &opts)
	require.NoError(t, err)
	return s
}

func request(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return r
}

// TestKinds adds a credential of each kind to a request.
func TestKinds(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := service(t, db, credential.Options{})
		for _, c := range []struct {
			draft         credential.NewCredential
			header, value string
			query         string
		}{
			{credential.NewCredential{Kind: credential.Bearer}, "Authorization", "Bearer " + canary, "b=2&a=%41"},
			{credential.NewCredential{Kind: credential.Basic, Username: "ana"}, "Authorization", "Basic YW5hOmNhbmFyeS1pbi1hLWNvYWwtbWluZQ==", "b=2&a=%41"},
			{credential.NewCredential{Kind: credential.Header, Field: "X-Api-Key"}, "X-Api-Key", canary, "b=2&a=%41"},
			{credential.NewCredential{Kind: credential.Query, Field: "the key"}, "", "", "b=2&a=%41&the+key=" + canary},
			{credential.NewCredential{Kind: credential.Query, Field: "a"}, "", "", "a=" + canary + "&b=2"},
		} {
			c.draft.Name, c.draft.Secret = "Shop", canary
			made, err := s.For("acme").Create(t.Context(), c.draft)
			require.NoError(t, err)
			require.Equal(t, "••••mine", made.Secret)
			require.Equal(t, []string{}, made.Hosts)
			r := request(t, "https://example.org/x?b=2&a=%41")
			require.NoError(t, s.Authorize(t.Context(), "acme", made.ID, r))
			require.Equal(t, c.query, r.URL.RawQuery)
			require.Equal(t, c.value, r.Header.Get(c.header))

			r = request(t, "https://example.org/")
			require.ErrorIs(t, s.Authorize(t.Context(), "other", made.ID, r), credential.ErrNotFound)
			require.Empty(t, r.Header)
		}
	})
}

// TestHosts sends a credential where it may go, and over https.
func TestHosts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := service(t, db, credential.Options{Allow: []string{"127.0.0.1:8080", "tools.internal"}})
		bound, err := s.For("acme").Create(t.Context(), credential.NewCredential{
			Name: "Shop", Kind: credential.Bearer, Secret: "short",
			Hosts: []string{"API.example.org.", "api.example.org", "pay.example.org:8443", "[::1]", "127.0.0.1", "tools.internal"},
		})
		require.NoError(t, err)
		require.Equal(t, "••••", bound.Secret)
		require.Equal(t, []string{"api.example.org", "pay.example.org:8443", "::1", "127.0.0.1", "tools.internal"}, bound.Hosts)
		free, err := s.For("acme").Create(t.Context(), credential.NewCredential{Name: "Free", Kind: credential.Bearer, Secret: canary})
		require.NoError(t, err)
		for _, c := range []struct {
			address     string
			bound, free error
		}{
			{"https://api.example.org/v1", nil, nil},
			{"https://Api.Example.org.:444/v1", nil, nil},
			{"https://pay.example.org:8443/", nil, nil},
			{"https://[::1]/", nil, nil},
			{"https://pay.example.org/", credential.ErrHost, nil},
			{"https://example.org/", credential.ErrHost, nil},
			{"https://api.example.org.evil.example/", credential.ErrHost, nil},
			{"https://api.example.org@evil.example/", credential.ErrHost, nil},
			{"http://api.example.org/", credential.ErrPlain, credential.ErrPlain},
			{"http://127.0.0.1:8080/", nil, nil},
			{"http://127.0.0.1/", credential.ErrPlain, credential.ErrPlain},
			{"http://tools.internal/", nil, nil},
		} {
			for id, want := range map[string]error{bound.ID: c.bound, free.ID: c.free} {
				r := request(t, c.address)
				err := s.Authorize(t.Context(), "acme", id, r)
				require.ErrorIs(t, err, want, c.address)
				require.Equal(t, want == nil, r.Header.Get("Authorization") != "", c.address)
			}
		}
	})
}

// TestStore lists, deletes and keeps accounts apart.
func TestStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := service(t, db, credential.Options{})
		a, b := s.For("acme"), s.For("other")
		var ids []string
		for n := range 5 {
			c, err := a.Create(t.Context(), credential.NewCredential{Name: fmt.Sprint("C", n), Kind: credential.Bearer, Secret: canary})
			require.NoError(t, err)
			ids = append(ids, c.ID)
		}
		var seen []string
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			page, err := a.List(t.Context(), credential.List{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			for _, c := range page.Items {
				seen = append(seen, c.ID)
			}
			cursor = page.Next
		}
		require.Equal(t, ids, seen)
		all, err := a.IDs(t.Context(), db)
		require.NoError(t, err)
		require.Equal(t, ids, all)
		none, err := b.IDs(t.Context(), db)
		require.NoError(t, err)
		require.Equal(t, []string{}, none)

		require.ErrorIs(t, b.Delete(t.Context(), ids[0]), credential.ErrNotFound)
		require.ErrorIs(t, a.Delete(t.Context(), "\x00"), credential.ErrNotFound)
		require.NoError(t, a.Delete(t.Context(), ids[0]))
		require.ErrorIs(t, a.Delete(t.Context(), ids[0]), credential.ErrNotFound)
		require.ErrorIs(t, s.Authorize(t.Context(), "acme", ids[0], request(t, "https://example.org")), credential.ErrNotFound)
		require.NoError(t, b.DeleteAll(t.Context()))
		require.NoError(t, s.Authorize(t.Context(), "acme", ids[1], request(t, "https://example.org")))
		require.NoError(t, a.DeleteAll(t.Context()))
		all, err = a.IDs(t.Context(), db)
		require.NoError(t, err)
		require.Empty(t, all)
	})
}

// TestRefused names the field that is wrong and keeps nothing.
func TestRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a := service(t, db, credential.Options{}).For("acme")
		good := credential.NewCredential{Name: "N", Kind: credential.Bearer, Secret: canary}
		for _, c := range []struct {
			field  string
			change func(d *credential.NewCredential)
		}{
			{"name", func(d *credential.NewCredential) { d.Name = " " }},
			{"name", func(d *credential.NewCredential) { d.Name = "a\x00" }},
			{"name", func(d *credential.NewCredential) { d.Name = strings.Repeat("é", 201) }},
			{"kind", func(d *credential.NewCredential) { d.Kind = "oauth" }},
			{"username", func(d *credential.NewCredential) { d.Username = "ana" }},
			{"username", func(d *credential.NewCredential) { d.Kind, d.Username = credential.Basic, "a:b" }},
			{"field", func(d *credential.NewCredential) { d.Field = "X" }},
			{"field", func(d *credential.NewCredential) { d.Kind, d.Field = credential.Header, "X Y" }},
			{"field", func(d *credential.NewCredential) { d.Kind, d.Field = credential.Header, "host" }},
			{"field", func(d *credential.NewCredential) { d.Kind, d.Field = credential.Header, "" }},
			{"field", func(d *credential.NewCredential) { d.Kind, d.Field = credential.Query, "" }},
			{"secret", func(d *credential.NewCredential) { d.Secret = "" }},
			{"secret", func(d *credential.NewCredential) { d.Secret = "a\r\nX: y" }},
			{"secret", func(d *credential.NewCredential) { d.Secret = "••••mine" }},
			{"secret", func(d *credential.NewCredential) { d.Secret = strings.Repeat("x", 4097) }},
			{"hosts[1]", func(d *credential.NewCredential) { d.Hosts = []string{"a.example", "https://b.example"} }},
			{"hosts[0]", func(d *credential.NewCredential) { d.Hosts = []string{"*.example.org"} }},
			{"hosts[0]", func(d *credential.NewCredential) { d.Hosts = []string{"ana@example.org"} }},
			{"hosts[0]", func(d *credential.NewCredential) { d.Hosts = []string{"example.org:"} }},
			{"hosts", func(d *credential.NewCredential) { d.Hosts = make([]string, 21) }},
		} {
			d := good
			c.change(&d)
			_, err := a.Create(t.Context(), d)
			var bad *credential.Invalid
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.field, bad.Field)
			require.NotContains(t, err.Error(), canary)
		}
		for _, l := range []credential.List{{Limit: -1}, {Cursor: "x y"}} {
			_, err := a.List(t.Context(), l)
			var bad *credential.Invalid
			require.ErrorAs(t, err, &bad)
		}
		ids, err := a.IDs(t.Context(), db)
		require.NoError(t, err)
		require.Empty(t, ids)

		s, err := credential.New(t.Context(), db, nil)
		require.NoError(t, err)
		_, err = s.For("acme").Create(t.Context(), good)
		require.ErrorContains(t, err, "no secrets to encrypt it with")
	})
}

// TestSecretsAreReplaced has a new secret put first, and the old one dropped.
func TestSecretsAreReplaced(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const newer = "a newer secret that is long enough"
		c, err := service(t, db, credential.Options{}).For("acme").Create(t.Context(), credential.NewCredential{Name: "N", Kind: credential.Bearer, Secret: canary})
		require.NoError(t, err)
		_, err = credential.New(t.Context(), db, &credential.Options{Secrets: []string{newer}})
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
		for _, secrets := range [][]string{{newer, sealing}, {newer}} {
			r := request(t, "https://example.org")
			require.NoError(t, service(t, db, credential.Options{Secrets: secrets}).Authorize(t.Context(), "acme", c.ID, r))
			require.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
		}
		// A sealed secret does not open in another row.
		s := service(t, db, credential.Options{Secrets: []string{newer}})
		other, err := s.For("acme").Create(t.Context(), credential.NewCredential{Name: "M", Kind: credential.Bearer, Secret: "another secret"})
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE credential_secret SET secret = (SELECT secret FROM credential_secret WHERE id = $1) WHERE id = $2`, c.ID, other.ID)
		require.NoError(t, err)
		require.ErrorIs(t, s.Authorize(t.Context(), "acme", other.ID, request(t, "https://example.org")), keyring.ErrSealed)
	})
}

// TestSealedAtRest looks for the secret in the bytes of the database, and in
// logs.
func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	url := testkit.SQLiteURL(t)
	db := testkit.Open(t, url)
	require.NoError(t, credential.Migrate(t.Context(), db))
	d := credential.NewCredential{Name: "visible", Kind: credential.Bearer, Secret: canary}
	_, err := service(t, db, credential.Options{}).For("acme").Create(t.Context(), d)
	require.NoError(t, err)
	path := strings.TrimPrefix(strings.Split(url, "?")[0], "sqlite://")
	var stored []byte
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		stored = append(stored, b...)
	}
	require.Contains(t, string(stored), "visible")
	require.NotContains(t, string(stored), "canary")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "draft", d)
	require.NotContains(t, log.String(), "canary")
}
