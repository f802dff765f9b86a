package usage

import (
	"time"
	_ "time/tzdata" // budgets and reports name time zones; a small container has no list of them
)

// midnight is the first instant of a day in a zone. That is not always 0:00,
// and 0:00 may come twice.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	start, end := t.ZoneBounds()
	switch wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); {
	case wall(t).Before(wanted): // there is no 0:00, and t lies before the gap
		return end
	case wall(t).After(wanted): // behind it
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

// wall is what a clock shows at t, as if it were UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// nextHour is when the hour of t in its zone ends: at full hours, and when the
// clock is moved.
func nextHour(t time.Time) time.Time {
	w := wall(t)
	next := t.Add(w.Truncate(time.Hour).Add(time.Hour).Sub(w))
	if _, end := t.ZoneBounds(); !end.IsZero() && end.Before(next) {
		return end
	}
	return next
}

// hourOf is when the hour of t in its zone began.
func hourOf(t time.Time) time.Time {
	w := wall(t)
	began := t.Add(w.Truncate(time.Hour).Sub(w))
	if start, _ := t.ZoneBounds(); !start.IsZero() && began.Before(start) {
		return start
	}
	return began
}
