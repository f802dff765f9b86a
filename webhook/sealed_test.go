package webhook_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// TestSealedByAnother has an endpoint that another process has sealed with a
// newer secret: it waits, and the others get what is theirs.
func TestSealedByAnother(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const newer = "a newer secret of tests that is long enough"
		old := setup(t, db, webhook.Options{Policy: fast})
		rec := receive(t, nil)
		old.put(t, rec.URL+"/one")
		next := setup(t, db, webhook.Options{Policy: fast, Secrets: []string{newer, sealing}})
		next.put(t, rec.URL+"/two")
		old.start(t)
		for n := range 3 {
			old.publish(t, event("chat", n))
		}
		old.until(t, func() bool {
			var paused int
			require.NoError(t, db.Get(&paused, `SELECT count(*) FROM queue_subscriber`))
			return paused >= 1
		})
		old.stop()
		next.start(t)
		seen := map[string]int{}
		for _, r := range rec.wait(t, 6) {
			seen[r.path]++
		}
		require.Equal(t, map[string]int{"/one": 3, "/two": 3}, seen)
	})
}
