package values

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// days are the words for the days of the week, as [time.Weekday] counts them.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// span is a part of a week's day, in minutes from midnight. One that ends
// before it begins ends on the next day.
type span struct{ from, to int }

// Hours are the spans of each day of the week.
type Hours [7][]span

// Contains reports whether a time is within the hours.
func (h *Hours) Contains(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	for _, s := range h[at.Weekday()] {
		if minute >= s.from && (minute < s.to || s.to <= s.from) {
			return true
		}
	}
	for _, s := range h[(at.Weekday()+6)%7] {
		if s.to <= s.from && minute < s.to {
			return true
		}
	}
	return false
}

// Next is the first time from at on that is within the hours: at itself, or
// when a span begins. false when there are no hours at all.
func (h *Hours) Next(at time.Time) (time.Time, bool) {
	if h.Contains(at) {
		return at, true
	}
	for day := range 8 {
		midnight := time.Date(at.Year(), at.Month(), at.Day()+day, 0, 0, 0, 0, at.Location())
		best := time.Time{}
		for _, s := range h[midnight.Weekday()] {
			begin := time.Date(midnight.Year(), midnight.Month(), midnight.Day(), s.from/60, s.from%60, 0, 0, at.Location())
			if !begin.Before(at) && (best.IsZero() || begin.Before(best)) {
				best = begin
			}
		}
		if !best.IsZero() {
			return best, true
		}
	}
	return at, false
}

// Add adds a span, "09:00" to "18:00", to some days; none means all. What is
// no time of day is left out: documents were checked for that.
func (h *Hours) Add(on []string, from, to string) {
	a, okA := clock(from)
	b, okB := clock(to)
	if !okA || !okB {
		return
	}
	for i, name := range days {
		if len(on) == 0 || slices.Contains(on, name) {
			h[i] = append(h[i], span{a, b})
		}
	}
}

// clock reads HH:MM, up to 24:00, as minutes from midnight.
func clock(s string) (int, bool) {
	hh, mm, ok := strings.Cut(s, ":")
	h, errH := strconv.Atoi(hh)
	m, errM := strconv.Atoi(mm)
	if !ok || errH != nil || errM != nil || h < 0 || m < 0 || m > 59 || h*60+m > 24*60 {
		return 0, false
	}
	return h*60 + m, true
}

// Location is a time zone by its name, else another.
func Location(name string, other *time.Location) *time.Location {
	if name == "" {
		return other
	}
	if l, err := time.LoadLocation(name); err == nil {
		return l
	}
	return other
}
