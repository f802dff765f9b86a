package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// fillLog writes events from a number on, in 100 chats, each delivered but for some
// of the first.
func fillLog(t *testing.T, f *fixture, endpoint string, from, to int) {
	t.Helper()
	series := fmt.Sprintf(`SELECT n FROM generate_series(%d, %d) AS s (n)`, from, to)
	if f.raw.DriverName() == "sqlite" {
		series = fmt.Sprintf(`SELECT n FROM (WITH RECURSIVE s (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)`, from, to)
	}
	for _, text := range []string{
		fmt.Sprintf(`INSERT INTO webhook_event (id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body)
			SELECT 'e' || n, n, '%s', '%s', 'message', 'k', 'chat' || n %% 100, 'm' || n, '', '{}' FROM (%s) AS numbers`, account, scope, series),
		fmt.Sprintf(`INSERT INTO webhook_attempt (event, endpoint, scope, seq, fence, at_us, outcome, status, duration_us, error, response)
			SELECT number, '%s', scope, number, 1, at_us, CASE WHEN at_us <= 1000 AND at_us %% 10 = 0 THEN 'dead' ELSE 'delivered' END, 200, 1, '', ''
			FROM webhook_event WHERE at_us BETWEEN %d AND %d`, endpoint, from, to),
		`ANALYZE`,
	} {
		_, err := f.raw.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
}

// TestDeliveriesOfALargeLog lists deliveries by what a filter names, in a log of 1,000 and
// of 50,000 events: a page of the larger one reads hardly more.
func TestDeliveriesOfALargeLog(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		endpoint := f.put(t, "http://127.0.0.1:1/")
		filters := map[string]webhook.DeliveryFilter{
			"message": {MessageIDs: []string{"m77", "m78"}}, "chat": {ChatIDs: []string{"none"}},
			"dead": {State: webhook.DeliveryDead}, "failed": {State: webhook.DeliveryFailed},
		}
		small, written := map[string]int{}, 0
		for _, size := range []int{1000, 50_000} {
			fillLog(t, f, endpoint.ID, written+1, size)
			written = size
			for name, filter := range filters {
				filter.Scope = scope
				read := blocksRead(t, f, filter)
				if size == 1000 {
					small[name] = read
				}
				require.LessOrEqual(t, read, 2*small[name]+100, "%s, of %d events", name, size)
			}
		}
		for name, want := range map[string]int{"message": 2, "chat": 0, "dead": 50, "failed": 0} {
			filter := filters[name]
			filter.Scope = scope
			page, err := f.Deliveries(t.Context(), filter)
			require.NoError(t, err)
			require.Len(t, page.Items, want, name)
		}
	})
}

// blocksRead returns how many blocks PostgreSQL reads for a page of deliveries. SQLite
// does not count them: the number is 0 if no part of its plan is that of a walk through
// the log.
func blocksRead(t *testing.T, f *fixture, filter webhook.DeliveryFilter) int {
	t.Helper()
	text, args := f.Over(filter)
	if f.raw.DriverName() == "sqlite" {
		var steps []struct {
			ID, Parent, Notused int
			Detail              string
		}
		require.NoError(t, f.raw.SelectContext(t.Context(), &steps, `EXPLAIN QUERY PLAN `+text, args...))
		for _, s := range steps {
			walk := strings.HasPrefix(s.Detail, "SCAN") && !strings.Contains(s.Detail, "CONSTANT")
			require.False(t, walk || strings.Contains(s.Detail, "webhook_attempt_final"), "%v: %s", filter, s.Detail)
		}
		return 0
	}
	var plan string
	require.NoError(t, f.raw.GetContext(t.Context(), &plan, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) `+text, args...))
	var top []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(plan), &top))
	return top[0].Plan.Hit + top[0].Plan.Read
}
