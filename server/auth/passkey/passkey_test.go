package passkey_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

func TestSiteOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]passkey.Site{
		"https://example.org":           {ID: "example.org", Origin: "https://example.org"},
		"https://EXAMPLE.org:8443/chat": {ID: "example.org", Origin: "https://example.org:8443"},
		"https://example.org:443":       {ID: "example.org", Origin: "https://example.org"},
		"http://localhost:80":           {ID: "localhost", Origin: "http://localhost"},
		"https://localhost:3000":        {ID: "localhost", Origin: "https://localhost:3000"},
		"https://xn--bcher-kva.example": {ID: "xn--bcher-kva.example", Origin: "https://xn--bcher-kva.example"},
	} {
		site, err := passkey.SiteOf(address)
		require.NoError(t, err, address)
		require.Equal(t, want, site)
	}
	for _, address := range []string{
		"http://example.org", "http://127.0.0.1:3000", "https://[::1]", "https://192.0.2.1:8443", "https://bücher.example", "https://", "ftp://localhost", "://",
	} {
		_, err := passkey.SiteOf(address)
		require.ErrorIs(t, err, passkey.ErrSite, address)
	}
}

// TestChallenges keeps so many of an address and of a user, for so long.
func TestChallenges(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := time.Unix(1_900_000_000, 0)
		clock := func() time.Time { return now }
		users, err := auth.New(t.Context(), db, &auth.Options{
			Secrets: []string{"a secret for tests of 32 bytes and more"}, Cost: auth.Cost{Passes: 1, Memory: 64}, Now: clock,
		})
		require.NoError(t, err)
		ana, err := users.SignUp(t.Context(), auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
		require.NoError(t, err)
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		s, err := passkey.New(d, passkey.Site{ID: "localhost", Origin: "http://localhost:3000"}, clock)
		require.NoError(t, err)
		stored := func() (n int) {
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM passkey_challenge`))
			return n
		}
		for range 105 {
			_, err := s.BeginSignIn(t.Context(), "192.0.2.1")
			require.NoError(t, err)
		}
		require.Equal(t, 100, stored())
		for range 7 {
			_, err := s.BeginAdd(t.Context(), passkey.User{ID: ana.User.ID, Email: "ana@example.org", Name: "Ana"})
			require.NoError(t, err)
		}
		require.Equal(t, 105, stored())
		sweep := func() {
			require.NoError(t, d.Write(t.Context(), func(tx *database.Tx) error { return passkey.SweepTx(t.Context(), tx, now) }))
		}
		now = now.Add(passkey.ChallengeTTL - time.Second)
		_, err = s.BeginSignIn(t.Context(), "192.0.2.2")
		require.NoError(t, err)
		sweep()
		require.Equal(t, 106, stored())
		now = now.Add(time.Second)
		sweep()
		require.Equal(t, 1, stored())
	})
}
