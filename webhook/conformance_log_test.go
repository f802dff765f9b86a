package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

func endpointsApart(t *testing.T, w *env) {
	w.follow(func(r request) reply {
		if r.path == "/" && r.seq() == 1 {
			return reply{status: http.StatusConflict}
		}
		return reply{}
	})
	w.fill(t, 1, 1)
	w.quiet(t)
	w.put(t, w.rec.URL+"/late")
	w.fill(t, 1, 3)
	w.quiet(t)
	require.Equal(t, map[string][]int64{"latechat0": {1, 2, 3}}, w.accepted())
	w.follow(always(reply{}))
	w.pass(t, time.Minute)
	require.Equal(t, map[string][]int64{"chat0": {1, 2, 3, 4}, "latechat0": {1, 2, 3}}, w.accepted())
}

func stablePages(t *testing.T, w *env) {
	const chats, n, page = 4, 10, 7
	w.fill(t, chats, n)
	w.quiet(t)
	var want, got []string
	for _, d := range w.all(t, "delivered") {
		want = append(want, d.ID)
	}
	require.Len(t, want, chats*n)
	filter := webhook.DeliveryFilter{Scope: scope, Limit: page}
	for more := true; more; more = filter.Cursor != "" {
		p, err := w.Deliveries(t.Context(), filter)
		require.NoError(t, err)
		for _, d := range p.Items {
			got = append(got, d.ID)
		}
		filter.Cursor = p.Next
		w.fill(t, chats, 1)
		w.quiet(t)
	}
	require.Equal(t, want, got)
}

func storedResponse(t *testing.T, w *env) {
	w.follow(always(reply{body: strings.Repeat("é", 300_000)}))
	w.publish(t, event("chat", 1))
	w.quiet(t)
	require.Equal(t, strings.Repeat("é", 512), w.one(t, "delivered").Attempts[0].Response)
}

// retention counts the rows that each transaction deletes where triggers know
// their transaction.
func retention(t *testing.T, w *env) {
	const chats, n, young = 60, 20, 7
	w.fill(t, chats, n)
	w.quiet(t)
	w.leap(t, 20*24*time.Hour)
	w.publish(t, event("young", 1))
	for i := range young - 1 {
		w.publish(t, event("young", i+2))
	}
	w.quiet(t)
	w.leap(t, 10*24*time.Hour+time.Minute)
	w.stop()
	if w.db.Dialect == database.Postgres {
		w.raw.MustExec(`CREATE TABLE deleted (tx BIGINT);
			CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO deleted VALUES (txid_current()); RETURN OLD; END';
			CREATE TRIGGER note BEFORE DELETE ON webhook_event FOR EACH ROW EXECUTE FUNCTION note();
			CREATE TRIGGER note BEFORE DELETE ON webhook_attempt FOR EACH ROW EXECUTE FUNCTION note();`)
	}
	w.start(t) // it looks at once, and every ten minutes
	for _, table := range []string{"webhook_attempt", "webhook_event"} {
		w.until(t, func() bool {
			var left int
			require.NoError(t, w.raw.Get(&left, `SELECT count(*) FROM `+table))
			require.GreaterOrEqual(t, left, young)
			return left == young
		})
	}
	require.Len(t, w.all(t, "delivered"), young)
	if w.db.Dialect == database.Postgres {
		var limit, all int
		require.NoError(t, w.raw.Get(&limit, `SELECT max(n) FROM (SELECT count(*) AS n FROM deleted GROUP BY tx) d`))
		require.NoError(t, w.raw.Get(&all, `SELECT count(*) FROM deleted`))
		require.LessOrEqual(t, limit, 500)
		require.Equal(t, 2*chats*n, all)
	}
}

func keepAlive(t *testing.T, w *env) {
	w.follow(func(r request) reply {
		if r.seq()%3 == 0 {
			return reply{body: strings.Repeat("x", 50_000)}
		}
		return reply{}
	})
	w.fill(t, 1, 40)
	w.quiet(t)
	w.inOrder(t, 1, 40)
	require.EqualValues(t, 1, w.rec.conns.Load())
}

// TestTimeout waits for as long as a receiver may take.
func TestTimeout(t *testing.T) {
	t.Parallel()
	hang := receive(t, func(_ int, r request, _ http.ResponseWriter) { <-r.gone })
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{})
	ep := f.put(t, hang.URL)
	a, err := f.Test(t.Context(), ep.ID, event("chat", 1))
	require.NoError(t, err)
	require.Equal(t, "no answer within 15s", a.Error)
	require.Greater(t, a.Duration, 14*time.Second)
	require.Zero(t, a.StatusCode)
}
