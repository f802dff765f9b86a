package messaging_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// A secret is replaced by putting the new one first, and then dropped.
func TestSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const newer = "a newer secret that is long enough"
		under := func(secrets ...string) *fixture {
			return setup(t, db, config{idle: true, options: func(o *messaging.Options) {
				o.Providers, o.Secrets = append(o.Providers, cloud.New(nil)), secrets
			}})
		}
		f := under(sealing)
		ref := f.reference(t, testKind, map[string]string{"host": "example.com", "token": "canary", "pin": "1234"})
		f.cloudReference(t, messaging.OneAccount, map[string]string{"verifyToken": "open sesame"})

		_, err := messaging.New(t.Context(), db, &messaging.Options{Providers: []provider.Provider{f.net.provider()}, Secrets: []string{newer}})
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
		require.ErrorContains(t, err, fmt.Sprintf("of reference %d", ref))
		_, err = messaging.New(t.Context(), db, &messaging.Options{Secrets: []string{"short"}})
		require.ErrorContains(t, err, "messaging: Options.Secrets: a secret needs at least 32 characters")

		for _, secrets := range [][]string{{sealing}, {newer, sealing}, {newer}} {
			f := under(secrets...)
			require.Equal(t, "canary", opened(t, f, ref)["token"])
			require.Equal(t, "1234", opened(t, f, ref)["pin"])
			ok, err := f.svc.Handshake(t.Context(), "open sesame")
			require.NoError(t, err)
			require.True(t, ok)
		}
		_, err = messaging.New(t.Context(), db, &messaging.Options{Providers: []provider.Provider{f.net.provider()}, Secrets: []string{sealing}})
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
	})
}
