package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/webhook"
)

// messagingMetrics counts what comes in and goes out, and shows what waits.
func (s *Server) messagingMetrics() *messaging.Observer {
	received := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_received_total", Help: "What networks reported, by kind of line and what it was.",
	}, []string{"kind", "what"})
	sent := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_send_attempts_total", Help: "Attempts to send a message, by kind of line and outcome.",
	}, []string{"kind", "outcome"})
	s.Metrics.MustRegister(received, sent, waiting{"send", func(ctx context.Context) (int64, time.Duration, error) {
		return s.Messaging.QueueStats(ctx)
	}})
	return &messaging.Observer{
		Received: func(k provider.Kind, what string, n int) { received.WithLabelValues(string(k), what).Add(float64(n)) },
		Sent:     func(k provider.Kind, outcome string) { sent.WithLabelValues(string(k), outcome).Inc() },
	}
}

// webhookMetrics counts deliveries, and shows what waits.
func (s *Server) webhookMetrics() *webhook.Observer {
	attempts := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_webhook_attempt_duration_seconds", Help: "Attempts to deliver a webhook, by outcome.",
		Buckets: []float64{.005, .02, .1, .5, 2, 15},
	}, []string{"outcome"})
	endpoints := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_webhook_endpoints_total", Help: "Endpoints that were paused or disabled.",
	}, []string{"change"})
	s.Metrics.MustRegister(attempts, endpoints, waiting{"webhook", func(ctx context.Context) (int64, time.Duration, error) {
		return s.Webhooks.QueueStats(ctx)
	}})
	return &webhook.Observer{
		Attempted: func(outcome string, took time.Duration) { attempts.WithLabelValues(outcome).Observe(took.Seconds()) },
		Paused:    func() { endpoints.WithLabelValues("paused").Inc() },
		Disabled:  func() { endpoints.WithLabelValues("disabled").Inc() },
	}
}

// waiting shows a queue's length and age when it is asked.
type waiting struct {
	queue string
	stats func(context.Context) (n int64, oldest time.Duration, err error)
}

var (
	queueLength = prometheus.NewDesc("trunkline_queue_length", "Items that wait.", []string{"queue"}, nil)
	queueAge    = prometheus.NewDesc("trunkline_queue_oldest_seconds", "Age of the oldest item that waits.", []string{"queue"}, nil)
)

// Describe is empty: two queues share their descriptions.
func (w waiting) Describe(chan<- *prometheus.Desc) {}

// Collect asks the queue.
func (w waiting) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, oldest, err := w.stats(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(queueLength, err)
		return
	}
	out <- prometheus.MustNewConstMetric(queueLength, prometheus.GaugeValue, float64(n), w.queue)
	out <- prometheus.MustNewConstMetric(queueAge, prometheus.GaugeValue, oldest.Seconds(), w.queue)
}
