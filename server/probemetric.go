package server

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// probeFailing describes the metric of a [probeMetric].
var probeFailing = prometheus.NewDesc("trunkline_probe_failing",
	"1 if the probe fails, by cause: database, disk (its disk is full), media (files cannot be stored) or files (too many are open).", []string{"cause"}, nil)

// probeMetric shows in metrics whether the probe fails, and why.
type probeMetric struct{ probe *probe }

// Describe implements [prometheus.Collector].
func (m probeMetric) Describe(out chan<- *prometheus.Desc) { out <- probeFailing }

// Collect looks, unless that was just done.
func (m probeMetric) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*probeTimeout)
	defer cancel()
	failing := causeOf(m.probe.check(ctx))
	for _, cause := range []string{"database", "disk", "media", "files"} {
		v := 0.0
		if cause == failing {
			v = 1
		}
		out <- prometheus.MustNewConstMetric(probeFailing, prometheus.GaugeValue, v, cause)
	}
}

// causeOf names the cause of a failing probe; "": it does not fail.
func causeOf(err error) string {
	var files *mediaError
	switch {
	case err == nil:
		return ""
	case httpapi.IsOpenFiles(err):
		return "files"
	case errors.As(err, &files), errors.Is(err, media.ErrFull):
		return "media"
	case database.IsFull(err):
		return "disk"
	}
	return "database"
}
