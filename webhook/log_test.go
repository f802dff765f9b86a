package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// pages reads a list to its end and returns it with the number of pages.
func (f *fixture) pages(t testing.TB, filter webhook.DeliveryFilter) ([]webhook.Delivery, int) {
	t.Helper()
	filter.Scope = scope
	var all []webhook.Delivery
	for n := 1; ; n++ {
		p, err := f.Deliveries(t.Context(), filter)
		require.NoError(t, err)
		require.NotNil(t, p.Items)
		all = append(all, p.Items...)
		if p.Next == "" {
			return all, n
		}
		filter.Cursor = p.Next
	}
}

func TestDeliveries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			switch {
			case strings.Contains(r.body, `"bad"`):
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte("no"))
			case strings.Contains(r.body, `"late"`):
				w.WriteHeader(http.StatusConflict)
			default:
				_, _ = w.Write([]byte("yes"))
			}
		})
		f := running(t, db, webhook.Options{Policy: webhook.Policy{Retries: []time.Duration{time.Millisecond}}})
		ep := f.put(t, rec.URL)
		for i := range 5 {
			ev := event("good", i)
			ev.MessageID = fmt.Sprint("m", i)
			f.publish(t, ev)
		}
		f.publish(t, event("bad", 1))
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 5 && outcomes(t, f, "dead") == 1 })
		f.stop()

		slow := running(t, db, webhook.Options{Policy: webhook.Policy{Retries: []time.Duration{time.Hour}, BlockFor: 2 * time.Hour}})
		slow.publish(t, event("late", 1), event("late", 2), event("late", 3))
		f.until(t, func() bool {
			ds, _ := slow.pages(t, webhook.DeliveryFilter{State: "pending"})
			return len(ds) == 3 && len(ds[2].Attempts) == 1
		})
		all, n := slow.pages(t, webhook.DeliveryFilter{})
		require.Equal(t, 1, n)
		var states []string
		for _, d := range all {
			states = append(states, d.State)
			require.Equal(t, ep.ID, d.EndpointID)
			require.Equal(t, "message", d.Event)
			id, err := uuid.Parse(d.ID)
			require.NoError(t, err)
			require.EqualValues(t, 7, id.Version())
			require.Equal(t, d.CreatedAt.UnixMilli(), time.Unix(id.Time().UnixTime()).UnixMilli())
			require.WithinDuration(t, time.Now(), d.CreatedAt, time.Minute)
		}
		slices.Sort(states[3:])
		require.Equal(t, []string{"pending", "pending", "pending", "dead", "delivered", "delivered", "delivered", "delivered", "delivered"}, states)

		t.Run("pending", func(t *testing.T) {
			require.Equal(t, []int64{3, 2, 1}, []int64{all[0].Sequence, all[1].Sequence, all[2].Sequence})
			head := all[2]
			require.Equal(t, "late", head.ChatID)
			require.Len(t, head.Attempts, 1)
			require.Equal(t, http.StatusConflict, head.Attempts[0].StatusCode)
			require.WithinDuration(t, time.Now().Add(time.Hour), head.NextAttemptAt, 15*time.Minute)
			require.Empty(t, all[0].Attempts)
			require.True(t, all[0].NextAttemptAt.IsZero())
		})
		t.Run("over", func(t *testing.T) {
			ds, _ := slow.pages(t, webhook.DeliveryFilter{State: "delivered"})
			require.Len(t, ds, 5)
			require.Equal(t, "m4", ds[0].MessageID)
			require.Equal(t, []int64{5, 4, 3, 2, 1}, []int64{ds[0].Sequence, ds[1].Sequence, ds[2].Sequence, ds[3].Sequence, ds[4].Sequence})
			a := ds[0].Attempts[0]
			require.Equal(t, "yes", a.Response)
			require.Equal(t, http.StatusOK, a.StatusCode)
			require.Empty(t, a.Error)
			require.Positive(t, a.Duration)
			require.True(t, ds[0].NextAttemptAt.IsZero())
			ds, _ = slow.pages(t, webhook.DeliveryFilter{State: "dead"})
			require.Len(t, ds, 1)
			require.Len(t, ds[0].Attempts, 2)
			require.Equal(t, "no", ds[0].Attempts[1].Response)
		})
		t.Run("pages", func(t *testing.T) {
			for limit := 1; limit <= len(all)+1; limit++ {
				got, _ := slow.pages(t, webhook.DeliveryFilter{Limit: limit})
				require.Equal(t, all, got, limit)
			}
			got, _ := slow.pages(t, webhook.DeliveryFilter{Limit: 2, State: "pending"})
			require.Equal(t, all[:3], got)
		})
		t.Run("filters", func(t *testing.T) {
			ids := func(s ...string) []string { return s }
			for _, c := range []struct {
				n      int
				filter webhook.DeliveryFilter
			}{
				{3, webhook.DeliveryFilter{ChatIDs: ids("late")}},
				{5, webhook.DeliveryFilter{ChatIDs: ids("good")}},
				{8, webhook.DeliveryFilter{ChatIDs: ids("none", "good", "late")}},
				{0, webhook.DeliveryFilter{ChatIDs: ids("none")}},
				{0, webhook.DeliveryFilter{ChatIDs: ids("late"), State: "dead"}},
				{1, webhook.DeliveryFilter{MessageIDs: ids("m3", "none")}},
				{2, webhook.DeliveryFilter{MessageIDs: ids("m3", "m4"), ChatIDs: ids("good", "late")}},
				{0, webhook.DeliveryFilter{MessageIDs: ids("m3"), ChatIDs: ids("late")}},
				{9, webhook.DeliveryFilter{Event: "messages"}},
				{0, webhook.DeliveryFilter{Event: "status"}},
				{9, webhook.DeliveryFilter{Endpoint: ep.ID}},
				{0, webhook.DeliveryFilter{Endpoint: "none"}},
				{3, webhook.DeliveryFilter{Event: "message", ChatIDs: ids("late")}},
			} {
				got, _ := slow.pages(t, c.filter)
				require.Len(t, got, c.n, c.filter)
			}
			p, err := slow.For("stranger").Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope})
			require.NoError(t, err)
			require.Equal(t, webhook.Page[webhook.Delivery]{Items: []webhook.Delivery{}}, p)
		})
		t.Run("invalid", func(t *testing.T) {
			for field, filter := range map[string]webhook.DeliveryFilter{
				"limit": {Limit: -1}, "state": {State: "x"}, "event": {Event: "x"}, "cursor": {Cursor: "x"},
				"chatId": {ChatIDs: make([]string, 1001)},
			} {
				_, err := slow.Deliveries(t.Context(), filter)
				requireInvalid(t, err, field)
			}
		})
	})
}

func TestReplay(t *testing.T) {
	eachDatabase(t, func(test *testing.T, db *sqlx.DB) {
		t := test
		var up atomic.Bool
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) {
			if !up.Load() {
				w.WriteHeader(http.StatusBadRequest)
			}
		})
		f := running(t, db, webhook.Options{Policy: webhook.Policy{Retries: []time.Duration{}}})
		ep := f.put(t, rec.URL)
		const n = 1200 // more than one chunk
		for base := 0; base < n; base += 400 {
			evs := make([]webhook.Event, 400)
			for i := range evs {
				evs[i] = event(fmt.Sprint("key", i%40), base+i)
			}
			f.publish(t, evs...)
		}
		f.until(t, func() bool { return outcomes(t, f, "dead") == n })
		up.Store(true)
		before := rec.all()
		t.Run("by id", func(t *testing.T) {
			p, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Limit: 3})
			require.NoError(t, err)
			ds := p.Items
			queued, err := f.Replay(t.Context(), webhook.Replay{IDs: []string{ds[0].ID, ds[2].ID, "none"}})
			require.NoError(t, err)
			require.Equal(t, 2, queued)
			f.until(t, func() bool { return outcomes(t, f, "delivered") == 2 })
			again, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, State: "delivered"})
			require.NoError(t, err)
			require.Len(t, again.Items, 2)
			for _, d := range again.Items {
				require.Contains(t, []string{ds[0].ID, ds[2].ID}, d.ID)
				require.Len(t, d.Attempts, 2)
			}
		})
		t.Run("of another account", func(t *testing.T) {
			p, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Limit: 3})
			require.NoError(t, err)
			for _, r := range []webhook.Replay{{Endpoint: ep.ID}, {IDs: []string{p.Items[0].ID, p.Items[1].ID}}} {
				_, err := f.For("stranger").Replay(t.Context(), r)
				require.ErrorIs(t, err, webhook.ErrNotFound)
			}
			_, err = f.Replay(t.Context(), webhook.Replay{IDs: []string{"none"}})
			require.ErrorIs(t, err, webhook.ErrNotFound)
		})
		t.Run("by time and state", func(t *testing.T) {
			for _, r := range []webhook.Replay{
				{Endpoint: ep.ID, State: "failed"},
				{Endpoint: ep.ID, Until: time.Now().Add(-time.Hour)},
				{Endpoint: ep.ID, Since: time.Now().Add(time.Hour), Until: time.Now().Add(2 * time.Hour)},
			} {
				queued, err := f.Replay(t.Context(), r)
				require.NoError(t, err)
				require.Zero(t, queued)
			}
			f.stop() // so that only the replay writes
			commits := testkit.ObserveCommits(t, db)
			queued, err := f.Replay(t.Context(), webhook.Replay{Endpoint: ep.ID, Since: time.Now().Add(-time.Hour)})
			require.NoError(t, err)
			require.Equal(t, n-2, queued)
			commits.RequireBounded(t, 2*(n-2), 1001) // a chunk of deliveries, a job for each, and the endpoint
			f.start(test)
			f.until(t, func() bool { return outcomes(t, f, "delivered") == n })
		})
		t.Run("id and sequence are the old ones, and in order", func(t *testing.T) {
			old := map[string]string{}
			for _, r := range before {
				old[r.header.Get("Webhook-Id")] = r.header.Get("X-Trunkline-Sequence")
			}
			last := map[string]string{}
			for _, r := range rec.all()[len(before)+2:] {
				id, seq := r.header.Get("Webhook-Id"), r.header.Get("X-Trunkline-Sequence")
				require.Equal(t, old[id], seq)
				k := r.body[:strings.Index(r.body, ",")]
				require.Less(t, fmt.Sprintf("%4s", last[k]), fmt.Sprintf("%4s", seq))
				last[k] = seq
			}
			f.publish(t, event("key0", n))
			got := rec.wait(t, 2*n+1)
			require.Equal(t, fmt.Sprint(n/40+1), got[2*n].header.Get("X-Trunkline-Sequence"))
		})
		t.Run("invalid", func(t *testing.T) {
			for field, r := range map[string]webhook.Replay{
				"endpoint": {}, "ids": {IDs: make([]string, 201)}, "state": {Endpoint: ep.ID, State: "pending"},
				"until": {Endpoint: ep.ID, Since: time.Now(), Until: time.Now().Add(-time.Hour)},
			} {
				_, err := f.Replay(t.Context(), r)
				requireInvalid(t, err, field)
			}
			off := false
			_, err := f.Update(t.Context(), ep.ID, webhook.Change{Enabled: &off})
			require.NoError(t, err)
			_, err = f.Replay(t.Context(), webhook.Replay{Endpoint: ep.ID, State: "delivered"})
			requireInvalid(t, err, "endpoint")
		})
	})
}

// TestReplayOnce replays up to a moment that has not come, what is delivered
// before the last of it is even queued: each once, nevertheless.
func TestReplayOnce(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := running(t, db, webhook.Options{})
	ep := f.put(t, receive(t, nil).URL)
	const n = 700 // more than one chunk
	for i := range n {
		f.publish(t, event(fmt.Sprint("key", i%40), i))
	}
	f.until(t, func() bool { return outcomes(t, f, "delivered") == n })
	f.stop()
	db.MustExec(`CREATE TRIGGER quick AFTER UPDATE OF outcome ON webhook_attempt BEGIN
		INSERT INTO webhook_attempt (endpoint, event, scope, seq, fence, at_us, outcome, status, duration_us, error, response)
		VALUES (NEW.endpoint, NEW.event, NEW.scope, NEW.seq, 1, NEW.at_us, 'delivered', 200, 1, '', ''); END`)
	queued, err := f.Replay(t.Context(), webhook.Replay{Endpoint: ep.ID, State: "delivered", Until: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, n, queued)
}
