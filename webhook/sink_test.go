package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// notes is a sink that writes what it is told into a table of its own.
type notes struct {
	refuse atomic.Int64 // so many calls fail
}

func (n *notes) AttemptsTx(ctx context.Context, tx webhook.Tx, as []webhook.Attempted) error {
	for _, a := range as {
		last := a.Delivery.Attempts[0]
		_, err := tx.ExecContext(ctx, `INSERT INTO note (text, delivery) VALUES ($1, $2)`, fmt.Sprintf("%s %s %s %s #%d %s %d",
			a.Account, a.Scope, a.Delivery.ChatID, a.Delivery.Event, a.Number, a.Delivery.State, last.StatusCode), a.Delivery.ID)
		if err != nil {
			return err
		}
	}
	if n.refuse.Add(-1) >= 0 {
		return errors.New("not now")
	}
	return nil
}

// TestSink is told of every attempt, in the transaction that records it.
func TestSink(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE note (text TEXT NOT NULL, delivery TEXT NOT NULL)`)
		sink := &notes{}
		sink.refuse.Store(1)
		rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
			if n <= 2 { // the first counts, but is not recorded, and so repeated
				w.WriteHeader(http.StatusConflict)
			}
		})
		f := running(t, db, webhook.Options{Policy: fast, Sink: sink})
		ep := f.put(t, rec.URL)
		f.publish(t, event("k", 1))
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 1 })
		ds, _ := f.pages(t, webhook.DeliveryFilter{})
		require.Len(t, ds[0].Attempts, 2)
		require.Len(t, rec.all(), 3)
		var got []struct{ Text, Delivery string }
		require.NoError(t, db.Select(&got, `SELECT text, delivery FROM note ORDER BY text`))
		require.Len(t, got, 2)
		for i, text := range []string{"acme 7 k message #2 pending 409", "acme 7 k message #3 delivered 200"} {
			require.Equal(t, text, got[i].Text)
			require.Equal(t, ds[0].ID, got[i].Delivery)
		}

		_, err := f.Test(t.Context(), ep.ID, webhook.Event{Type: "message", Body: []byte(`{}`)})
		require.NoError(t, err)
		sink.refuse.Store(1)
		_, err = f.Test(t.Context(), ep.ID, webhook.Event{Type: "message", Body: []byte(`{}`)})
		require.ErrorContains(t, err, "not now")
		require.Equal(t, 2, outcomes(t, f, "delivered"), "what the sink refuses is not in the log")
	})
}

// TestStats counts endpoints and the oldest event that some of them lack.
func TestStats(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var status atomic.Int64
		status.Store(http.StatusServiceUnavailable)
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(int(status.Load())) })
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		var finished atomic.Int64
		f := running(t, db, webhook.Options{
			Policy: webhook.Policy{DownAfter: 1, ProbeFirst: time.Hour, ProbeLast: time.Hour},
			Now:    func() time.Time { return time.UnixMicro(clock.Load()) },
			Observer: &webhook.Observer{Finished: func(outcome string, after time.Duration) {
				if outcome == "delivered" && after > 0 { // the other event took no time
					finished.Store(int64(after))
				}
			}},
		})
		stats := func() webhook.Stats {
			st, err := f.Stats(t.Context())
			require.NoError(t, err)
			return st
		}
		states := func(ok, paused, disabled int64) map[webhook.State]int64 {
			return map[webhook.State]int64{webhook.StateOK: ok, webhook.StatePaused: paused, webhook.StateDisabled: disabled}
		}
		require.Equal(t, webhook.Stats{Endpoints: states(0, 0, 0)}, stats())
		ep, off := f.put(t, rec.URL), f.put(t, rec.URL+"/off")
		no := false
		_, err := f.Update(t.Context(), off.ID, webhook.Change{Enabled: &no})
		require.NoError(t, err)
		require.Equal(t, states(1, 0, 1), stats().Endpoints)

		f.publish(t, event("k", 1))
		f.until(t, func() bool { return stats().Endpoints[webhook.StatePaused] == 1 })
		require.Equal(t, states(0, 1, 1), stats().Endpoints)
		clock.Add(time.Minute.Microseconds())
		f.publish(t, event("other", 1))
		require.Equal(t, time.Minute, stats().OldestPending.Round(time.Second), "it waits, whatever keeps it")

		status.Store(http.StatusOK)
		yes := true
		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Enabled: &yes})
		require.NoError(t, err)
		f.until(t, func() bool { return stats().OldestPending == 0 })
		require.Equal(t, states(1, 0, 1), stats().Endpoints)
		f.until(t, func() bool { return finished.Load() > 0 })
		require.Zero(t, f.Fenced())
	})
}
