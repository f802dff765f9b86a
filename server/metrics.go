package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpMetrics counts requests by what bounds their number: the route's
// template, never the path.
type httpMetrics struct{ durations *prometheus.HistogramVec }

func newHTTPMetrics(r *prometheus.Registry, version string) *httpMetrics {
	m := &httpMetrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "trunkline_http_request_duration_seconds",
		Help:    "Time from a request's header to the end of its answer.",
		Buckets: []float64{.002, .01, .05, .2, 1, 5, 20},
	}, []string{"method", "route", "code"})}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "trunkline_build_info", Help: "Always 1; the label says what runs.",
	}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	r.MustRegister(m.durations, info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *httpMetrics) observe(method, route string, status int, duration time.Duration) {
	if route == "" {
		method, route = "any", "none" // both are whatever a scanner sends
	}
	m.durations.WithLabelValues(method, route, strconv.Itoa(status)).Observe(duration.Seconds())
}

// MetricsHandler serves [Server.Metrics] at /metrics. It belongs on an address
// of its own: the main one never serves it.
func (s *Server) MetricsHandler() http.Handler {
	m := http.NewServeMux()
	m.Handle("GET /metrics", promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{
		Registry: s.Metrics, ErrorHandling: promhttp.ContinueOnError, // a database that is out of reach must not hide the rest
	}))
	return m
}
