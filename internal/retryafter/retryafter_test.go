package retryafter_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/retryafter"
)

func TestOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"7", "", 7 * time.Second},
		{"0.5", "", time.Second / 2},
		{"-7", "", 0},
		{"soon", "", 0},
		{"NaN", "", 0},
		{"1e300", "", retryafter.Max},
		{"Inf", "", retryafter.Max},
		{date(time.Minute), "", time.Minute},
		{date(-time.Minute), "", 0},
		{date(100 * time.Hour), "", retryafter.Max},
		{date(time.Hour + time.Minute), date(time.Hour), time.Minute},
		{date(time.Minute - time.Hour), date(-time.Hour), time.Minute},
		{date(time.Minute), "yesterday", time.Minute},
	} {
		h := http.Header{"Retry-After": {c.after}, "Date": {c.date}}
		require.Equal(t, c.want, retryafter.Of(h, now), "%v", h)
	}
}
