package webhook_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

// BenchmarkIsolation publishes evenly for a hundred endpoints, first while all
// answer, then while ten of them take requests and do not answer. What the
// ninety others get, and when, is compared.
func BenchmarkIsolation(b *testing.B) {
	durably(b, func(b *testing.B, db *sqlx.DB) {
		const endpoints, hang, rate, each = 100, 10, 1000, 2000
		s := newMeter(b)
		f := setup(b, db, webhook.Options{Logger: slog.New(slog.DiscardHandler), Workers: workers})
		for i := range endpoints {
			path := "/"
			if i < hang {
				path = "/hang/"
			}
			_, _, err := f.Put(b.Context(), webhook.Settings{Scope: fmt.Sprint("s", i), URL: fmt.Sprint(s.URL, path, i)})
			require.NoError(b, err)
		}
		healthy := func(n int) bool { return n%endpoints >= hang }
		var stored, slower float64
		var p99s [2]time.Duration
		for b.Loop() {
			f.start(b)
			f.publishAtRate(b, s, 0, each/4, 10, rate, endpoints) // the first connections
			all := f.publishAtRate(b, s, 0, each, 10, rate, endpoints).of(healthy)
			until := make(chan struct{})
			s.hanging.Store(&until)
			some := f.publishAtRate(b, s, each, each, 10, rate, endpoints, healthy).of(healthy)
			close(until)
			s.hanging.Store(nil)
			f.stop()
			stored += some.rate() / all.rate()
			p99s[0], p99s[1] = p99s[0]+all.p99(), p99s[1]+some.p99()
			slower += float64(some.p99()) / float64(all.p99())
		}
		b.ReportMetric(stored/float64(b.N), "rate-ratio")
		b.ReportMetric(slower/float64(b.N), "p99-ratio")
		b.ReportMetric(float64(p99s[0].Microseconds())/1000/float64(b.N), "alone-p99-ms")
		b.ReportMetric(float64(p99s[1].Microseconds())/1000/float64(b.N), "p99-ms")
	})
}

// BenchmarkReceipt publishes 200 events a second, each in a transaction of its
// own: the time from a commit to the receipt, beside that of the commit.
func BenchmarkReceipt(b *testing.B) {
	durably(b, func(b *testing.B, db *sqlx.DB) {
		const endpoints, rate, n = 10, 200, 400
		s := newMeter(b)
		f := setup(b, db, webhook.Options{})
		f.listen(b, endpoints, s.URL)
		f.start(b)
		f.publishAtRate(b, s, 0, 100, 1, rate, endpoints)
		var all journey
		for b.Loop() {
			all = append(all, f.publishAtRate(b, s, 0, n, 1, rate, endpoints)...)
		}
		commits := make([]time.Duration, len(all))
		for i, j := range all {
			commits[i] = j.commit
		}
		slices.Sort(commits)
		median := commits[len(commits)/2]
		b.ReportMetric(float64(all.p99())/float64(median), "p99/commit")
		b.ReportMetric(float64(all.p99().Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(median.Microseconds())/1000, "commit-ms")
	})
}

// trip is an event on its way.
type trip struct {
	n               int
	commit          time.Duration // what its transaction took
	committed, came time.Time
}

type journey []trip

// publishAtRate publishes n events from the first, so many in a transaction, at a rate,
// for endpoints in turn, and waits until all of them, or those that count, have
// come.
func (f *fixture) publishAtRate(b *testing.B, s *meter, first, n, together, rate, endpoints int, counts ...func(n int) bool) journey {
	b.Helper()
	s.await(-1) // it counts on
	trips := make(journey, n)
	tick := time.NewTicker(time.Second * time.Duration(together) / time.Duration(rate))
	defer tick.Stop()
	for base := 0; base < n; base += together {
		<-tick.C
		evs := make([]webhook.Event, together)
		for i := range evs {
			t := &trips[base+i]
			t.n = first + base + i
			s.came[t.n].Store(0)
			evs[i] = benchEvent(t.n)
			evs[i].Scope, evs[i].Body = fmt.Sprint("s", t.n%endpoints), s.bodies[t.n]
		}
		began := time.Now()
		f.publish(b, evs...)
		committed := time.Now()
		for i := range evs {
			trips[base+i].commit, trips[base+i].committed = committed.Sub(began), committed
		}
	}
	for i := range trips {
		t := &trips[i]
		if len(counts) > 0 && !counts[0](t.n) {
			continue
		}
		testkit.Until(b, []*testsignal.Signal{&s.arrived}, func() bool { return s.came[t.n].Load() != 0 })
		t.came = time.UnixMicro(s.came[t.n].Load())
	}
	return trips
}

func (j journey) of(counts func(n int) bool) journey {
	return slices.DeleteFunc(slices.Clone(j), func(t trip) bool { return !counts(t.n) })
}

// rate is how many came a second.
func (j journey) rate() float64 {
	last := j[0].came
	for _, t := range j {
		if t.came.After(last) {
			last = t.came
		}
	}
	return float64(len(j)) / last.Sub(j[0].committed).Seconds()
}

// p99 is the time from commit to receipt.
func (j journey) p99() time.Duration {
	duration := make([]time.Duration, len(j))
	for i, t := range j {
		duration[i] = t.came.Sub(t.committed)
	}
	slices.Sort(duration)
	return max(duration[len(duration)*99/100], time.Microsecond)
}
