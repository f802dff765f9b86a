package usage

import (
	"time"
	_ "time/tzdata" // budgets and reports name time zones, and small containers lack the database
)

// midnight returns the first instant of a day in a zone. It is not always 0:00,
// which may be skipped or occur twice.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	start, end := t.ZoneBounds()
	switch wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); {
	case wall(t).Before(wanted): // 0:00 is skipped, and t lies before the gap
		return end
	case wall(t).After(wanted): // after the gap
		return start
	case start.IsZero():
		return t
	}
	_, offset := t.Zone()
	_, before := start.Add(-1).Zone()
	if first := t.Add(time.Duration(offset-before) * time.Second); offset < before && first.Before(start) {
		return first
	}
	return t
}

// wall returns the local time of t as if it were UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// nextHour returns the end of t's hour in its zone. An hour ends at a full hour,
// and when the clock is changed.
func nextHour(t time.Time) time.Time {
	w := wall(t)
	next := t.Add(w.Truncate(time.Hour).Add(time.Hour).Sub(w))
	if _, end := t.ZoneBounds(); !end.IsZero() && end.Before(next) {
		return end
	}
	return next
}

// hourOf returns the start of t's hour in its zone.
func hourOf(t time.Time) time.Time {
	w := wall(t)
	began := t.Add(w.Truncate(time.Hour).Sub(w))
	if start, _ := t.ZoneBounds(); !start.IsZero() && began.Before(start) {
		return start
	}
	return began
}
