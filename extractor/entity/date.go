package entity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// dateAt finds a day.
func (s *timeScan) dateAt(i int) (any, int) {
	return s.language.date.at(s, i, s.dateOf)
}

// dateOf returns the day that a rule means:
//
//	date       day and month, of a year or of the next that has it
//	day        the next such day of a month
//	weekday    the next such day; weekday −1, 0, 1: of last, this, next week
//	weekdayday the next such day of a month on that day of a week
//	nth n      the first … last such weekday of a month: of the named one, or in n months
//	monthday n a day of the month in n months
//	base       a number of days from today
//	feast m-d  a day that has a name, of a year or the next
//	ahead, ago a length of time from that day
func (s *timeScan) dateOf(r *rule, b bound) (any, bool) {
	verb, argument, _ := strings.Cut(r.is, " ")
	if verb == "feast" {
		return s.feast(argument, b)
	}
	n, err := strconv.Atoi(argument)
	if argument != "" && err != nil {
		return nil, false
	}
	today := day(s.now)
	var at time.Time
	ok := true
	switch verb {
	case "date":
		at, ok = onDate(today, b)
	case "day":
		at, ok = onDay(today, b.day)
	case "weekday":
		at = onWeekday(today, b.weekday, argument, n)
	case "weekdayday":
		at, ok = onWeekdayDay(today, b)
	case "nth":
		at, ok = onNth(today, b, n)
	case "monthday":
		at, ok = exactly(today.Year(), int(today.Month())+n, b.day)
	case "base":
		at = today.AddDate(0, 0, b.base)
	case "ahead":
		at, ok = shifted(today.AddDate(0, 0, b.base), b.sum, 1)
	case "ago":
		at, ok = shifted(today.AddDate(0, 0, b.base), b.sum, -1)
	default:
		return nil, false
	}
	return written(at, ok)
}

// feast returns a holiday in a year, or its next date.
func (s *timeScan) feast(monthDay string, b bound) (any, bool) {
	at, err := time.Parse("1-2", monthDay)
	if err != nil {
		return nil, false
	}
	b.month, b.day = int(at.Month()), at.Day()
	return written(onDate(day(s.now), b))
}

func written(at time.Time, ok bool) (any, bool) {
	if !ok || at.Year() < 1 || at.Year() > 9999 {
		return nil, false
	}
	return at.Format(time.DateOnly), true
}

// day returns the day of a time in its zone, as midnight in UTC, where all days
// have 24 hours.
func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// exactly returns a date if it exists. The month may exceed 12.
func exactly(year, month, d int) (time.Time, bool) {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	at := first.AddDate(0, 0, d-1)
	return at, d >= 1 && at.Month() == first.Month()
}

// onDate returns a date in a year, or its next occurrence from today on. The 29th
// of February may be years away.
func onDate(today time.Time, b bound) (time.Time, bool) {
	if b.year != 0 {
		return exactly(b.year, b.month, b.day)
	}
	for year := today.Year(); year <= today.Year()+8; year++ {
		if at, ok := exactly(year, b.month, b.day); ok && !at.Before(today) {
			return at, true
		}
	}
	return time.Time{}, false
}

// onDay returns the next such day of a month, from today on.
func onDay(today time.Time, d int) (time.Time, bool) {
	for month := range 12 {
		if at, ok := exactly(today.Year(), int(today.Month())+month, d); ok && !at.Before(today) {
			return at, true
		}
	}
	return time.Time{}, false
}

// onWeekday returns a weekday: of this week or of one some weeks away, or the next
// such day after today. Weeks begin on Monday.
func onWeekday(today time.Time, weekday int, argument string, weeks int) time.Time {
	offset := weekday - isoWeekday(today)
	if argument == "" {
		if offset <= 0 {
			offset += 7
		}
		return today.AddDate(0, 0, offset)
	}
	return today.AddDate(0, 0, offset+7*weeks)
}

func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// onWeekdayDay returns a weekday that falls on a day of the month, such as Friday
// the 13th.
func onWeekdayDay(today time.Time, b bound) (time.Time, bool) {
	for month := range 12 * 8 {
		at, ok := exactly(today.Year(), int(today.Month())+month, b.day)
		if ok && !at.Before(today) && isoWeekday(at) == b.weekday {
			return at, true
		}
	}
	return time.Time{}, false
}

// onNth returns the nth such weekday of a month.
func onNth(today time.Time, b bound, months int) (time.Time, bool) {
	if b.month == 0 {
		return nthOf(today.Year(), int(today.Month())+months, b)
	}
	if b.year != 0 {
		return nthOf(b.year, b.month, b)
	}
	at, ok := nthOf(today.Year(), b.month, b)
	if ok && at.Before(today) {
		return nthOf(today.Year()+1, b.month, b)
	}
	return at, ok
}

func nthOf(year, month int, b bound) (time.Time, bool) {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	offset := (b.weekday - isoWeekday(first) + 7) % 7
	if b.nth == -1 {
		for nth := 5; nth >= 4; nth-- {
			if at, ok := exactly(first.Year(), int(first.Month()), 1+offset+7*(nth-1)); ok {
				return at, true
			}
		}
	}
	if b.nth < 1 || b.nth > 5 {
		return time.Time{}, false
	}
	return exactly(first.Year(), int(first.Month()), 1+offset+7*(b.nth-1))
}

// shifted returns a day that is a span away. The span has at least one day: hours
// alone are not a date. Adding months to the last day of a month leads to the last
// day of a month.
func shifted(from time.Time, sum span, sign float64) (time.Time, bool) {
	if sum.seconds != 0 || sum.years+sum.months+sum.days == 0 || sum.years > 9999 || sum.months > 12*9999 || sum.days > 366*9999 {
		return time.Time{}, false
	}
	months, rest := math.Modf(sum.years*12 + sum.months)
	days := math.Round(sum.days + rest*daysOfMonth)
	first := time.Date(from.Year(), from.Month()+time.Month(int(sign*months)), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	at := first.AddDate(0, 0, min(from.Day(), last)-1)
	return at.AddDate(0, 0, int(sign*days)), true
}
