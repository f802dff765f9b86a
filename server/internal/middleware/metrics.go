package middleware

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics counts requests by the template of their route. Paths would be too
// many.
type Metrics struct{ durations *prometheus.HistogramVec }

// NewMetrics registers the metrics of requests and of the process.
func NewMetrics(r *prometheus.Registry, version string) *Metrics {
	m := &Metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "trunkline_http_request_duration_seconds",
		Help:    "Time from the header of a request to the end of its response.",
		Buckets: []float64{.002, .01, .05, .2, 1, 5, 20},
	}, []string{"method", "route", "code"})}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "trunkline_build_info", Help: "Always 1; the labels have the version.",
	}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	r.MustRegister(m.durations, info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *Metrics) observe(method, route string, status int, duration time.Duration) {
	if route == "" {
		method, route = "any", "none" // both are whatever a scanner sends
	}
	m.durations.WithLabelValues(method, route, strconv.Itoa(status)).Observe(duration.Seconds())
}
