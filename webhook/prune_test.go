package webhook_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestPruneBehindLeap has an attempt of a clock that was ahead before many that
// are old: they go at once, nevertheless, in transactions that are bounded.
func TestPruneBehindLeap(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{Retention: time.Hour})
		const insert = `INSERT INTO webhook_attempt (endpoint, event, scope, seq, fence, at_us, outcome, status, duration_us, error, response) VALUES `
		const row = `, 1, '7', 1, 1, $1, 'delivered', 200, 1, '', '')`
		db.MustExec(insert+`('ahead'`+row, database.Micros(time.Now().Add(time.Hour)))
		for range 1200 { // more than two chunks
			db.MustExec(insert+`('old'`+row, database.Micros(time.Now().Add(-2*time.Hour)))
		}
		commits := testkit.ObserveCommits(t, db)
		f.start(t)
		f.until(t, func() bool {
			var left []string
			require.NoError(t, db.Select(&left, `SELECT endpoint FROM webhook_attempt`))
			return len(left) == 1 && left[0] == "ahead"
		})
		commits.RequireBounded(t, 1200, 500)
	})
}
