package flow

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// cronFields are the parts of a schedule and their ranges. Sunday is 0 or 7.
var cronFields = [5]struct {
	name      string
	low, high int
}{{"minute", 0, 59}, {"hour", 0, 23}, {"day", 1, 31}, {"month", 1, 12}, {"weekday", 0, 7}}

// cron is a schedule: a set of values for each field, as bits.
type cron struct {
	minute, hour, day, month, weekday uint64
	// If both a day of the month and a weekday are given, one of them is enough.
	either bool
}

// everyHour are the bits of all hours.
const everyHour = 1<<24 - 1

// parseCron parses five fields of numbers, ranges, lists and steps, such as */15
// 8-18 * * 1-5. It reports errors to bad, with a hint.
func parseCron(text string, bad func(message, hint string)) cron {
	parts := strings.Fields(text)
	if len(parts) != len(cronFields) {
		bad("must have five fields", "minute, hour, day, month, weekday: 0 9 * * 1-5")
		return cron{}
	}
	var sets [len(cronFields)]uint64
	for i, f := range cronFields {
		for item := range strings.SplitSeq(parts[i], ",") {
			set, ok := cronItem(item, f.low, f.high)
			if !ok {
				bad("the "+f.name+" "+strconv.Quote(values.Shorten(item))+" is not valid", "from "+strconv.Itoa(f.low)+" to "+strconv.Itoa(f.high))
			}
			sets[i] |= set
		}
	}
	c := cron{minute: sets[0], hour: sets[1], day: sets[2], month: sets[3], weekday: sets[4]}
	c.weekday |= c.weekday >> 7
	c.either = !strings.HasPrefix(parts[2], "*") && !strings.HasPrefix(parts[4], "*")
	return c
}

// cronItem parses one item of a list: *, 5, 1-5, each with or without a step. A
// number with a step extends to the end of the range.
func cronItem(item string, low, high int) (set uint64, ok bool) {
	item, step, stepped := strings.Cut(item, "/")
	every := 1
	if stepped {
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 || n > high {
			return 0, false
		}
		every = n
	}
	from, to := low, high
	if item != "*" {
		first, last, ranged := strings.Cut(item, "-")
		var err error
		if from, err = strconv.Atoi(first); err != nil || from < low || from > high {
			return 0, false
		}
		if ranged {
			if to, err = strconv.Atoi(last); err != nil || to < from || to > high {
				return 0, false
			}
		} else if !stepped {
			to = from
		}
	}
	for n := from; n <= to; n += every {
		set |= 1 << n
	}
	return set, true
}

// comes reports whether some year has a day of the schedule.
func (c cron) comes() bool {
	if c.either || c.day == 0 {
		return true
	}
	first := bits.TrailingZeros64(c.day)
	for month, days := range [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if c.month&(1<<(month+1)) != 0 && first <= days {
			return true
		}
	}
	return false
}

// on reports whether the schedule includes a day.
func (c cron) on(day time.Time) bool {
	if c.month&(1<<int(day.Month())) == 0 {
		return false
	}
	monthday, weekday := c.day&(1<<day.Day()) != 0, c.weekday&(1<<int(day.Weekday())) != 0
	if c.either {
		return monthday || weekday
	}
	return monthday && weekday
}

// farthest bounds the search for a day: the 29th of February falls on a given
// weekday at least once in 40 years.
const farthest = 41 * 366

// next returns the first time after another, by the local clock.
func (c cron) next(after time.Time, at *time.Location) (time.Time, bool) {
	local := after.In(at)
	for d := range farthest {
		day := time.Date(local.Year(), local.Month(), local.Day()+d, 0, 0, 0, 0, time.UTC)
		if !c.on(day) {
			continue
		}
		for hour := range 24 {
			if c.hour&(1<<hour) == 0 {
				continue
			}
			if t, ok := c.within(day.Add(time.Duration(hour)*time.Hour), after, at); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// within returns the first time after another within an hour of the local clock,
// which is given as if it were UTC.
func (c cron) within(hour, after time.Time, at *time.Location) (first time.Time, ok bool) {
	for minutes := c.minute; minutes != 0; minutes &= minutes - 1 {
		shown := hour.Add(time.Duration(bits.TrailingZeros64(minutes)) * time.Minute)
		for i, t := range instants(shown, at) {
			if i > 0 && c.hour != everyHour {
				break // that time has passed already
			}
			if t.After(after) && (!ok || t.Before(first)) {
				first, ok = t, true
			}
		}
	}
	return first, ok
}

// instants returns the instants at which local clocks show a time, which is given
// as if it were UTC. There are two when clocks go back. When clocks go forward over
// the time it is the moment of the change.
func instants(shown time.Time, at *time.Location) []time.Time {
	_, before := shown.Add(-24 * time.Hour).In(at).Zone()
	_, then := shown.Add(24 * time.Hour).In(at).Zone()
	var out []time.Time
	for _, offset := range [...]int{max(before, then), min(before, then)} {
		t := shown.Add(-time.Duration(offset) * time.Second).In(at)
		if _, is := t.Zone(); is == offset && (len(out) == 0 || !out[0].Equal(t)) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		start, _ := shown.Add(-time.Duration(before) * time.Second).In(at).ZoneBounds()
		out = append(out, start.In(at))
	}
	return out
}
