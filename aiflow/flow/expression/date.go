package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the accepted formats of dates. A date without a zone is read in
// the zone that the caller names.
var dateLayouts = []string{
	time.RFC3339Nano,
	time.DateOnly,
	"2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04",
}

// maxDateText is longer than any text that is a date.
const maxDateText = 40

func parseDate(s string, zone *time.Location) (time.Time, bool) {
	if len(s) < len(time.DateOnly) || len(s) > maxDateText || s[0] < '0' || s[0] > '9' {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, inYears(t)
		}
	}
	return time.Time{}, false
}

// inYears reports whether RFC 3339 can represent the year of a date.
func inYears(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9998
}

// formatRFC3339 returns a date as text, which is how it leaves an expression: to
// the millisecond, without a fraction if that is zero.
func formatRFC3339(t time.Time) string {
	return t.Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z07:00")
}

// duration is a length of time on the calendar: a month is not a fixed number of
// hours.
type duration struct {
	months, days int
	clock        time.Duration
}

// durationUnits are the designators of an ISO 8601 duration, in order.
var durationUnits = []struct {
	letter byte
	time   bool
	add    func(*duration, float64)
}{
	{'Y', false, func(d *duration, n float64) { d.months += int(n * 12) }},
	{'M', false, func(d *duration, n float64) { d.months += int(n) }},
	{'W', false, func(d *duration, n float64) { d.days += int(n * 7) }},
	{'D', false, func(d *duration, n float64) { d.days += int(n) }},
	{'H', true, func(d *duration, n float64) { d.clock += time.Duration(n * float64(time.Hour)) }},
	{'M', true, func(d *duration, n float64) { d.clock += time.Duration(n * float64(time.Minute)) }},
	{'S', true, func(d *duration, n float64) { d.clock += time.Duration(n * float64(time.Second)) }},
}

// parseDuration parses an ISO 8601 duration such as P1DT2H30M, optionally negative.
// Only hours, minutes and seconds may have a fraction. Each number is limited so
// that the result stays within the years of dates.
func parseDuration(s string) (duration, bool) {
	var d duration
	rest, negative := strings.CutPrefix(s, "-")
	rest, ok := strings.CutPrefix(rest, "P")
	if !ok || rest == "" || strings.HasSuffix(rest, "T") || len(rest) > maxDateText {
		return d, false
	}
	clock := false
	for unit := 0; rest != ""; {
		if !clock && rest[0] == 'T' {
			clock, rest = true, rest[1:]
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end < 1 {
			return d, false
		}
		for unit < len(durationUnits) && (durationUnits[unit].letter != rest[end] || durationUnits[unit].time != clock) {
			unit++
		}
		n, err := strconv.ParseFloat(rest[:end], 64)
		if unit == len(durationUnits) || err != nil || n > maxUnits || !clock && n != math.Trunc(n) {
			return d, false
		}
		durationUnits[unit].add(&d, n)
		unit++
		rest = rest[end+1:]
	}
	if negative {
		d = duration{-d.months, -d.days, -d.clock}
	}
	return d, true
}

// maxUnits limits each number in a duration. 10^6 hours are 114 years, and fit into
// a time.Duration together with minutes and seconds.
const maxUnits = 1e6

// addTo moves a date. A month later is the same day, or the last day of a shorter
// month.
func (d duration) addTo(t time.Time) time.Time {
	if d.months != 0 {
		t = addMonths(t, d.months)
	}
	return t.AddDate(0, 0, d.days).Add(d.clock)
}

func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location()).AddDate(0, months, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// dateTokens are the tokens of a layout of formatDate, longest first.
var dateTokens = []struct {
	token string
	write func(time.Time) string
}{
	{"YYYY", func(t time.Time) string { return fmt.Sprintf("%04d", t.Year()) }},
	{"MMMM", func(t time.Time) string { return t.Month().String() }},
	{"dddd", func(t time.Time) string { return t.Weekday().String() }},
	{"MMM", func(t time.Time) string { return t.Month().String()[:3] }},
	{"ddd", func(t time.Time) string { return t.Weekday().String()[:3] }},
	{"YY", func(t time.Time) string { return fmt.Sprintf("%02d", t.Year()%100) }},
	{"MM", func(t time.Time) string { return fmt.Sprintf("%02d", int(t.Month())) }},
	{"DD", func(t time.Time) string { return fmt.Sprintf("%02d", t.Day()) }},
	{"HH", func(t time.Time) string { return fmt.Sprintf("%02d", t.Hour()) }},
	{"hh", func(t time.Time) string { return fmt.Sprintf("%02d", (t.Hour()+11)%12+1) }},
	{"mm", func(t time.Time) string { return fmt.Sprintf("%02d", t.Minute()) }},
	{"ss", func(t time.Time) string { return fmt.Sprintf("%02d", t.Second()) }},
	{"M", func(t time.Time) string { return strconv.Itoa(int(t.Month())) }},
	{"D", func(t time.Time) string { return strconv.Itoa(t.Day()) }},
	{"H", func(t time.Time) string { return strconv.Itoa(t.Hour()) }},
	{"h", func(t time.Time) string { return strconv.Itoa((t.Hour()+11)%12 + 1) }},
	{"A", func(t time.Time) string { return t.Format("PM") }},
	{"Z", func(t time.Time) string { return t.Format("Z07:00") }},
}

// formatDate formats a date by a layout of tokens. Texts in [brackets], and
// characters that are not a token, stay as they are.
func formatDate(t time.Time, layout string) string {
	var b strings.Builder
	for layout != "" {
		if layout[0] == '[' {
			if literal, rest, ok := strings.Cut(layout[1:], "]"); ok {
				b.WriteString(literal)
				layout = rest
				continue
			}
		}
		n := writeToken(&b, t, layout)
		layout = layout[n:]
	}
	return b.String()
}

// writeToken writes the token or the byte with which layout begins. It returns its
// length.
func writeToken(b *strings.Builder, t time.Time, layout string) int {
	for _, d := range dateTokens {
		if strings.HasPrefix(layout, d.token) {
			b.WriteString(d.write(t))
			return len(d.token)
		}
	}
	b.WriteByte(layout[0])
	return 1
}
