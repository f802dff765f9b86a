package node

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	isoDate   = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})$`)
	numDate   = regexp.MustCompile(`^(\d{1,2})[./\-](\d{1,2})[./\-](\d{4}|\d{2})$`)
	dayMonth  = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?\.?(?: of)? (\pL{3,})\.?,? (\d{4})$`)
	monthDay  = regexp.MustCompile(`^(\pL{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$`)
	clockTime = regexp.MustCompile(`^(\d{1,2})(?:[:.h](\d{2}))?(?:[:.](\d{2}))? ?(am|pm|a\.m\.|p\.m\.|uhr|h)?$`)
)

// relativeDays are words for days around today; folded.
var relativeDays = map[string]int{
	"today": 0, "tomorrow": 1, "yesterday": -1,
	"heute": 0, "morgen": 1, "gestern": -1,
	"hoy": 0, "manana": 1, "ayer": -1,
	"hoje": 0, "amanha": 1, "ontem": -1,
	"aujourd'hui": 0, "demain": 1, "hier": -1,
	"oggi": 0, "domani": 1, "ieri": -1,
}

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// date reads a day and returns YYYY-MM-DD.
func (r reader) date(said string) (any, bool) {
	day, ok := r.day(said)
	if !ok {
		return nil, false
	}
	return day.Format(time.DateOnly), true
}

// ownDay reads 2026-11-21, 21.11.2026, 21/11/2026 (11/21/2026 in the locale en-US),
// 21 November 2026, November 21, 2026, and words such as tomorrow.
func (r reader) ownDay(said string) (time.Time, bool) {
	s := strings.TrimSpace(asciiDigits(said))
	if n, ok := relativeDays[fold(s)]; ok {
		return civil(r.now.Year(), int(r.now.Month()), r.now.Day()).AddDate(0, 0, n), true
	}
	if m := isoDate.FindStringSubmatch(s); m != nil {
		return civilOf(m[1], m[2], m[3])
	}
	if m := numDate.FindStringSubmatch(s); m != nil {
		if r.monthFirst(s) {
			m[1], m[2] = m[2], m[1]
		}
		return civilOf(r.year(m[3]), m[2], m[1])
	}
	lower := strings.ToLower(s)
	if m := dayMonth.FindStringSubmatch(lower); m != nil {
		return civilOf(m[3], monthOf(m[2]), m[1])
	}
	if m := monthDay.FindStringSubmatch(lower); m != nil {
		return civilOf(m[3], monthOf(m[1]), m[2])
	}
	return time.Time{}, false
}

// monthFirst reports whether a date has the order of the United States.
func (r reader) monthFirst(s string) bool {
	return strings.Contains(s, "/") && strings.EqualFold(strings.ReplaceAll(r.locale, "_", "-"), "en-US")
}

// year completes a year of two digits: at most 20 years ahead.
func (r reader) year(s string) string {
	if len(s) == 4 {
		return s
	}
	n, _ := strconv.Atoi(s)
	n += r.now.Year() / 100 * 100
	if n > r.now.Year()+20 {
		n -= 100
	}
	return strconv.Itoa(n)
}

func monthOf(word string) string {
	for i, m := range months {
		if strings.HasPrefix(word, m) {
			return strconv.Itoa(i + 1)
		}
	}
	return "0"
}

func civilOf(year, month, day string) (time.Time, bool) {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	t := civil(y, m, d)
	return t, t.Year() == y && int(t.Month()) == m && t.Day() == d && y >= 1
}

func civil(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

// time reads a time of day and returns HH:MM:SS.
func (r reader) time(said string) (any, bool) {
	d, ok := r.clock(said)
	if !ok {
		return nil, false
	}
	return time.Time{}.Add(d).Format(time.TimeOnly), true
}

// timeOfDay reads 9:30, 09.30, 9h30, 9 am, 9:30 p.m. and 9 Uhr.
func timeOfDay(said string) (time.Duration, bool) {
	s := strings.TrimSpace(strings.ToLower(asciiDigits(said)))
	m := clockTime.FindStringSubmatch(s)
	if m == nil || m[2] == "" && m[4] == "" {
		return 0, false
	}
	h, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	second, _ := strconv.Atoi(m[3])
	if half := strings.ReplaceAll(m[4], ".", ""); half == "am" || half == "pm" {
		if h < 1 || h > 12 {
			return 0, false
		}
		h %= 12
		if half == "pm" {
			h += 12
		}
	}
	if h > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second, true
}

// datetime reads a day and a time, in either order, and returns RFC 3339 in the
// flow's time zone.
func (r reader) datetime(said string) (any, bool) {
	s := strings.Join(strings.Fields(said), " ")
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Format(time.RFC3339), true
	}
	if t, err := time.ParseInLocation("2006-01-02T15:04", s, r.now.Location()); err == nil {
		return t.Format(time.RFC3339), true
	}
	for i, c := range s {
		if c != ' ' {
			continue
		}
		for _, halves := range [][2]string{{s[:i], s[i+1:]}, {s[i+1:], s[:i]}} {
			day, okDay := r.day(trimJoin(halves[0]))
			clock, okTime := r.clock(trimJoin(halves[1]))
			if okDay && okTime {
				at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, r.now.Location())
				at = time.Date(at.Year(), at.Month(), at.Day(), int(clock/time.Hour), int(clock%time.Hour/time.Minute), int(clock%time.Minute/time.Second), 0, r.now.Location())
				return at.Format(time.RFC3339), true
			}
		}
	}
	return nil, false
}

// trimJoin removes the words that join a day and a time.
func trimJoin(s string) string {
	s = strings.Trim(s, " ,")
	for _, word := range []string{"at ", "um ", "on ", "am ", "a las ", "às ", "à "} {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			s = s[len(word):]
		}
	}
	for _, word := range []string{" at", " um", ","} {
		s = strings.TrimSuffix(s, word)
	}
	return strings.TrimSpace(s)
}

// moment parses a date with or without a time, in the format of answers and bounds.
func moment(s string, zone *time.Location) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
