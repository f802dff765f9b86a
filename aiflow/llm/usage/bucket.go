package usage

import (
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// bucket is an interval of a report.
type bucket struct {
	starts, ends int64 // microseconds
	keys         []string
}

// buckets returns the intervals between From and To by one or two units, at most
// one more than the maximum of rows.
func (r *Report) buckets(units []string, zone *time.Location) []bucket {
	var bs []bucket
	hours := slices.Contains(units, "hour")
	for t := r.From.In(zone); t.Before(r.To); {
		next := nextDay(t)
		if hours {
			next = nextHour(t)
		}
		if next.After(r.To) {
			next = r.To
		}
		keys := make([]string, len(units))
		for i, unit := range units {
			keys[i] = keyAt(unit, t)
		}
		if n := len(bs); n > 0 && slices.Equal(bs[n-1].keys, keys) {
			bs[n-1].ends = database.Micros(next)
		} else if n > maxRows {
			return bs
		} else {
			bs = append(bs, bucket{database.Micros(t), database.Micros(next), keys})
		}
		t = next.In(zone)
	}
	return bs
}

func nextDay(t time.Time) time.Time {
	year, month, day := t.Date()
	if next := midnight(year, month, day+1, t.Location()); next.After(t) {
		return next
	}
	w := wall(t) // 0:00 occurs twice, and t lies between
	return t.Add(w.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(w))
}

// keyAt returns the key of the unit of time around t, in t's zone.
func keyAt(unit string, t time.Time) string {
	switch unit {
	case "hour":
		return hourOf(t).Format(time.RFC3339)
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case "month":
		return t.Format("2006-01")
	}
	return t.Format(time.DateOnly)
}
