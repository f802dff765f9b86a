package wait_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/internal/wait"
)

const long = time.Hour // what ends earlier ends for its reason

func TestWaiters(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		counted, asked := testkit.Counting(t, db)
		d, err := database.Of(t.Context(), counted)
		require.NoError(t, err)
		for _, text := range []string{
			`CREATE TABLE messaging_outbound (message BIGINT PRIMARY KEY, tried BOOLEAN NOT NULL, announced BOOLEAN NOT NULL)`,
			`CREATE TABLE messaging_media (message BIGINT PRIMARY KEY, waiting BOOLEAN NOT NULL)`,
			`INSERT INTO messaging_outbound (message, tried, announced) VALUES (1, FALSE, FALSE), (2, TRUE, FALSE)`,
			`INSERT INTO messaging_media (message, waiting) VALUES (1, TRUE)`,
		} {
			_, err := d.ExecContext(t.Context(), text)
			require.NoError(t, err)
		}
		w := wait.New(d)

		first := w.Expect(1)
		w.Attempted(1)
		before := asked.Statements.Load()
		first.Wait(t.Context(), long)
		require.Equal(t, before, asked.Statements.Load(), "who is woken does not ask")
		first.Leave()
		(*wait.Waiter)(nil).Leave()

		require.True(t, w.Attempt(t.Context(), 2, long), "it was over before")
		require.True(t, w.Attempt(t.Context(), 3, long), "it was deleted")
		require.False(t, w.Attempt(t.Context(), 1, 0))
		over, stop := context.WithCancel(t.Context())
		stop()
		require.False(t, w.Attempt(over, 1, long))

		file := make(chan bool, 1)
		go func() { file <- w.File(t.Context(), 1, long) }()
		w.Attempted(1)                                                                                      // ends no wait for a file
		_, err = d.ExecContext(t.Context(), `UPDATE messaging_media SET waiting = FALSE WHERE message = 1`) // by another node
		require.NoError(t, err)
		require.True(t, <-file)
	})
}
