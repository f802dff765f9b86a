package webhook_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/webhook"
)

// A secret is replaced by putting the new one first, and then dropped.
func TestSecretsAreReplaced(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const newer = "a newer secret that is long enough"
		rec := receive(t, nil)
		f := setup(t, db, webhook.Options{})
		first, second := secretOf(24), secretOf(32)
		set := webhook.Settings{Scope: scope, URL: rec.URL, Secret: first, Headers: []webhook.Header{{Key: "X-Token", Value: "canary"}}}
		ep, _, err := f.Put(t.Context(), set)
		require.NoError(t, err)
		set.Secret, set.Headers = second, nil
		_, _, err = f.Put(t.Context(), set) // both sign now
		require.NoError(t, err)

		_, err = webhook.New(t.Context(), db, &webhook.Options{Secrets: []string{newer}})
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
		require.ErrorContains(t, err, "webhook: opening the headers of endpoint "+ep.ID)

		for n, secrets := range [][]string{{sealing}, {newer, sealing}, {newer}} {
			f := running(t, db, webhook.Options{Secrets: secrets})
			f.publish(t, event("k", n))
			got := rec.wait(t, n+1)[n]
			for _, s := range []string{first, second} {
				require.NoError(t, webhook.Verify(s, got.header, []byte(got.body), time.Now()))
			}
			require.Equal(t, "canary", got.header.Get("X-Token"))
			f.stop()
		}
		_, err = webhook.New(t.Context(), db, &webhook.Options{Secrets: []string{sealing}})
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
	})
}
