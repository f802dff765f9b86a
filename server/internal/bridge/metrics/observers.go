// Package metrics counts what the services do, and shows what waits in their
// queues.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/webhook"
)

// Messaging counts what comes in and goes out.
func Messaging(r *prometheus.Registry) *messaging.Observer {
	received := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_received_total", Help: "Events from networks, by type of reference and kind of event.",
	}, []string{"kind", "what"})
	sent := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_send_attempts_total", Help: "Attempts to send a message, by type of reference and outcome.",
	}, []string{"kind", "outcome"})
	r.MustRegister(received, sent)
	what := atMost(200)
	return &messaging.Observer{
		Received: func(k provider.Kind, w string, n int) { received.WithLabelValues(string(k), what(w)).Add(float64(n)) },
		Sent:     func(k provider.Kind, outcome string) { sent.WithLabelValues(string(k), outcome).Inc() },
	}
}

// MCP counts calls of functions by agents.
func MCP(r *prometheus.Registry) *mcp.Observer {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_mcp_call_duration_seconds", Help: "Calls of functions by agents, by function and outcome: ok, or the code of the error.",
		Buckets: []float64{.005, .02, .1, .5, 2, 15},
	}, []string{"function", "outcome"})
	r.MustRegister(calls)
	return &mcp.Observer{Called: func(function, outcome string, duration time.Duration) {
		calls.WithLabelValues(function, outcome).Observe(duration.Seconds())
	}}
}

// atMost bounds the values of a label, some of which the networks choose: what
// comes after the first n is "other".
func atMost(n int) func(value string) string {
	var mu sync.Mutex
	seen := map[string]bool{}
	return func(value string) string {
		mu.Lock()
		defer mu.Unlock()
		if !seen[value] && len(seen) >= n {
			return "other"
		}
		seen[value] = true
		return value
	}
}

// Runs counts turns, runs and calls of flows.
func Runs(r *prometheus.Registry) *runtime.Observer {
	turns := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_flow_turn_duration_seconds", Help: "Turns of bots and flows, by engine, from reading the state to the commit.",
		Buckets: []float64{.001, .005, .02, .1, .5, 2},
	}, []string{"engine"})
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_flow_runs_total", Help: "Finished runs of bots and flows, by engine and status.",
	}, []string{"engine", "status"})
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_flow_call_duration_seconds", Help: "External calls of flows, by kind and outcome: done, or the code of the error.",
		Buckets: []float64{.01, .05, .25, 1, 5, 30, 120},
	}, []string{"kind", "outcome"})
	dropped := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_flow_dropped_total", Help: "Events that no run waited for and no trigger matched, by kind; silent: messages to chats in which bots are off.",
	}, []string{"what"})
	r.MustRegister(turns, runs, calls, dropped)
	return &runtime.Observer{
		Turned: func(engine, _ string, duration time.Duration) {
			turns.WithLabelValues(engine).Observe(duration.Seconds())
		},
		Ended: func(engine, status string, _ time.Duration) { runs.WithLabelValues(engine, status).Inc() },
		Called: func(kind, outcome string, duration time.Duration) {
			calls.WithLabelValues(kind, outcome).Observe(duration.Seconds())
		},
		Dropped: func(what string) { dropped.WithLabelValues(what).Inc() },
	}
}

// Webhooks counts deliveries.
func Webhooks(r *prometheus.Registry) *webhook.Observer {
	attempts := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_webhook_attempt_duration_seconds", Help: "Attempts to deliver a webhook, by outcome.",
		Buckets: []float64{.005, .02, .1, .5, 2, 15},
	}, []string{"outcome"})
	deliveries := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "trunkline_webhook_delivery_seconds", Help: "Finished webhook deliveries, by outcome: time from the event to the outcome.",
		Buckets: []float64{.05, .25, 1, 5, 30, 300, 3600, 86400},
	}, []string{"outcome"})
	for _, outcome := range []string{webhook.DeliveryDelivered, webhook.DeliveryFailed, webhook.DeliveryDead} {
		deliveries.WithLabelValues(outcome) // a rate needs the zero before the first
	}
	endpoints := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_webhook_endpoints_total", Help: "Endpoints that were paused or disabled because of their responses.",
	}, []string{"change"})
	endpoints.WithLabelValues("paused")
	endpoints.WithLabelValues("disabled")
	r.MustRegister(attempts, deliveries, endpoints)
	return &webhook.Observer{
		Attempted: func(outcome string, duration time.Duration) {
			attempts.WithLabelValues(outcome).Observe(duration.Seconds())
		},
		Finished: func(outcome string, after time.Duration) {
			deliveries.WithLabelValues(outcome).Observe(after.Seconds())
		},
		Paused:   func() { endpoints.WithLabelValues("paused").Inc() },
		Disabled: func() { endpoints.WithLabelValues("disabled").Inc() },
	}
}

// Payments counts payment notifications.
func Payments(r *prometheus.Registry) func(billing.Outcome) {
	received := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_payments_total", Help: "Payment notifications, by outcome; dead: they belong to no account.",
	}, []string{"outcome"})
	received.WithLabelValues(string(billing.Dead)) // a rate needs the zero before the first
	r.MustRegister(received)
	return func(o billing.Outcome) { received.WithLabelValues(string(o)).Inc() }
}
