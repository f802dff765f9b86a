package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
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
	hookStates = prometheus.NewDesc("trunkline_webhook_endpoints", "Endpoints by state.", []string{"state"}, nil)
	hookAge    = prometheus.NewDesc("trunkline_webhook_oldest_pending_seconds",
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
