package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestLateNodeSparesOthers keeps a node from saying that it lives, and so all
// others: when it can again, another that looks dead has a beat's time to say
// that it lives, too, and only then loses its work.
func TestLateNodeSparesOthers(t *testing.T) {
	t.Parallel()
	const expiry = 3 * time.Second
	url := testkit.PostgresURL(t)
	db := testkit.Open(t, url)
	var s sink
	own := testkit.Open(t, url)
	require.NoError(t, queue.SetExpiry(t.Context(), own, expiry))
	q := newQueue(t, own, queue.Options{Logger: quiet, Handle: done(&s)})
	start(t, q)
	until(t, q.Commits(), func() bool {
		var nodes int
		require.NoError(t, db.Get(&nodes, `SELECT count(*) FROM queue_node`))
		return nodes == 1
	})
	in(t, db, func(tx *database.Tx) error {
		_, err := tx.ExecContext(t.Context(), `LOCK TABLE queue_node IN EXCLUSIVE MODE`)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), `CREATE TABLE life (n SERIAL, id TEXT, what TEXT);
			CREATE FUNCTION metadata() RETURNS trigger LANGUAGE plpgsql AS
				'BEGIN INSERT INTO life (id, what) VALUES (COALESCE(NEW.id, OLD.id), TG_OP); RETURN NULL; END';
			CREATE TRIGGER metadata AFTER UPDATE OR DELETE ON queue_node FOR EACH ROW EXECUTE FUNCTION metadata();
			INSERT INTO queue_node (id, queue, seen_us) VALUES ('other', 'q', 1)`)
		require.NoError(t, err)
		eventually(t, func() bool {
			var quiet float64 // seconds
			require.NoError(t, tx.GetContext(t.Context(), &quiet, `SELECT EXTRACT(EPOCH FROM clock_timestamp()) - max(seen_us) / 1e6 FROM queue_node`))
			return quiet > 0.6*expiry.Seconds()
		})
		return nil
	})
	until(t, q.Commits(), func() bool {
		var others int
		require.NoError(t, db.Get(&others, `SELECT count(*) FROM queue_node WHERE id = 'other'`))
		return others == 0
	})
	var beats int
	require.NoError(t, db.Get(&beats, `SELECT count(*) FROM life WHERE what = 'UPDATE' AND n < (SELECT n FROM life WHERE what = 'DELETE')`))
	require.GreaterOrEqual(t, beats, 2)
}
