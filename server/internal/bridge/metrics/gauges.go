package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	gaugesFresh   = 2 * time.Second // how long what was read answers for
	gaugesTimeout = 5 * time.Second // of reading
)

// gauges are read from the database when they are asked for, once in a while.
// When the database does not answer they are left out; other metrics are served.
type gauges struct {
	desc *prometheus.Desc // in whose name an error is reported
	read func(ctx context.Context) ([]prometheus.Metric, error)

	mu   sync.Mutex
	at   time.Time
	last []prometheus.Metric
	err  error
}

// Describe is empty: two queues share their descriptions.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads, unless that was just done.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || time.Since(g.at) >= gaugesFresh {
		ctx, cancel := context.WithTimeout(context.Background(), gaugesTimeout)
		defer cancel()
		g.last, g.err = g.read(ctx)
		g.at = time.Now()
	}
	if g.err != nil {
		out <- prometheus.NewInvalidMetric(g.desc, g.err)
		return
	}
	for _, m := range g.last {
		out <- m
	}
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

var (
	queueLength = prometheus.NewDesc("trunkline_queue_length", "Waiting items.", []string{"queue"}, nil)
	queueAge    = prometheus.NewDesc("trunkline_queue_oldest_seconds",
		"Age of the oldest item that is ready to be processed, in seconds.", []string{"queue"}, nil)
	sessions    = prometheus.NewDesc("trunkline_sessions", "References by type and state of their session.", []string{"kind", "state"}, nil)
	deadLetters = prometheus.NewDesc("trunkline_dead_letters", "Items of callbacks that could not be read, until they are replayed or deleted.", nil, nil)
	hookStates  = prometheus.NewDesc("trunkline_webhook_endpoints", "Endpoints by state.", []string{"state"}, nil)
	hookAge     = prometheus.NewDesc("trunkline_webhook_oldest_pending_seconds",
		"Age of the oldest event that waits for delivery, in seconds; 0 if there is none.", nil, nil)
)

// Queues shows what waits in the queues of services, and how endpoints of
// webhooks fare.
func Queues(r *prometheus.Registry, m *messaging.Service, runs *runtime.Runtime, hooks *webhook.Dispatcher) {
	r.MustRegister(
		queueGauges("send", m.QueueStats), fencedCounter("send", m.Fenced), queueGauges("flow", runs.QueueStats),
		hookGauges(hooks.Stats), queueGauges("webhook", hooks.QueueStats), fencedCounter("webhook", hooks.Fenced),
	)
}

// Clock counts how often the clock of a database was set back.
func Clock(r *prometheus.Registry, db *database.DB) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "trunkline_clock_steps_total", Help: "How often this process has seen the clock of the database set back.",
	}, func() float64 { return float64(clockstep.Steps(db)) }))
}

// References shows the states of sessions, and how many dead letters there are.
func References(r *prometheus.Registry, m *messaging.Service) {
	r.MustRegister(&gauges{desc: sessions, read: func(ctx context.Context) ([]prometheus.Metric, error) {
		st, err := m.Stats(ctx)
		out := []prometheus.Metric{gauge(deadLetters, float64(st.DeadLetters))}
		for _, s := range st.Sessions {
			out = append(out, gauge(sessions, float64(s.N), string(s.Kind), string(s.State)))
		}
		return out, err
	}})
}

// queueGauges show a queue's length and age.
func queueGauges(queue string, stats func(context.Context) (n int64, oldest time.Duration, err error)) *gauges {
	return &gauges{desc: queueLength, read: func(ctx context.Context) ([]prometheus.Metric, error) {
		n, oldest, err := stats(ctx)
		return []prometheus.Metric{gauge(queueLength, float64(n), queue), gauge(queueAge, oldest.Seconds(), queue)}, err
	}}
}

// hookGauges show how endpoints fare.
func hookGauges(stats func(context.Context) (webhook.Stats, error)) *gauges {
	return &gauges{desc: hookStates, read: func(ctx context.Context) ([]prometheus.Metric, error) {
		st, err := stats(ctx)
		out := []prometheus.Metric{gauge(hookAge, st.OldestPending.Seconds())}
		for state, n := range st.Endpoints {
			out = append(out, gauge(hookStates, float64(n), string(state)))
		}
		return out, err
	}}
}

// fencedCounter counts work that was done and not recorded, because its lease
// had ended.
func fencedCounter(queue string, n func() int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "trunkline_queue_fenced_total", Help: "Work whose lease expired before it was recorded; another node has repeated it.",
		ConstLabels: prometheus.Labels{"queue": queue},
	}, func() float64 { return float64(n()) })
}
