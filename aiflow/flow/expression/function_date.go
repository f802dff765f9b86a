package expression

import (
	"sync"
	"time"
	_ "time/tzdata" // flows name time zones, and small containers lack the database
)

var dateFunctions = []declared{
	{"date(value: text|number|date, zone?: text): date", "The date of a text such as 2026-03-01, 2026-03-01 14:30 or RFC 3339, or of a number of seconds since 1970; nil if it is not a date. A text without a time zone is read in zone (default: the flow's).", toDate},
	{"formatDate(date: date|text, layout: text, zone?: text): text", "The date in the time zone (default: the flow's), formatted by a layout of YYYY, MM, DD, HH, mm, ss, MMM, dddd and so on. Text in [brackets] is not changed.", dateText},
	{"addDuration(date: date|text, duration: text): date", "The date plus an ISO 8601 duration such as P1D, PT30M or -P1M. A month later is the same day, or the last day of that month.", addDuration},
	{"diff(from: date|text, to: date|text, unit?: text): number", "The time from from to to, in seconds, minutes, hours, days (the default), weeks, months or years. Months and years are whole numbers.", diff},
	{"datePart(date: date|text, part: text, zone?: text): number", "The year, month, day, hour, minute, second, weekday (1 is Monday) or yearday of the date in the time zone (default: the flow's).", datePart},
}

// zones caches the time zones in use: there are some 600 names.
var zones sync.Map

// zoneSteps is the cost of naming a time zone, which may have to be loaded.
const zoneSteps = 20

// zone returns the time zone that argument i names, or that of the evaluation.
func zone(m *machine, args []any, i, at int) (*time.Location, error) {
	name := textArg(args, i, "")
	if name == "" {
		return m.zone(), nil
	}
	if err := m.step(zoneSteps, at); err != nil {
		return nil, err
	}
	if known, ok := zones.Load(name); ok {
		z, _ := known.(*time.Location)
		return z, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > maxDateText {
		return nil, fail(CodeValue, at, "has a time zone that does not exist").hint(`write for example "Europe/Madrid"`)
	}
	zones.Store(name, z)
	return z, nil
}

// zone returns the time zone of the evaluation, which is that of `now`.
func (m *machine) zone() *time.Location {
	if now, ok := m.env["now"].(time.Time); ok {
		return now.Location()
	}
	return time.UTC
}

// dateArg returns an argument that is a date, or a text with a date in zone. ok is
// false if it is neither.
func dateArg(args []any, i int, zone *time.Location) (time.Time, bool) {
	switch v := args[i].(type) {
	case time.Time:
		return v, inYears(v)
	case string:
		return parseDate(v, zone)
	}
	return time.Time{}, false
}

func toDate(m *machine, at int, args []any) (any, error) {
	z, err := zone(m, args, 1, at)
	if err != nil {
		return nil, err
	}
	if kindOf(args[0]) == Number {
		seconds := float(args[0])
		if seconds < -62e9 || seconds > 253e9 {
			return nil, nil
		}
		return time.UnixMilli(int64(seconds * 1000)).In(z), nil
	}
	if t, ok := dateArg(args, 0, z); ok {
		return t, nil
	}
	return nil, nil
}

func dateText(m *machine, at int, args []any) (any, error) {
	z, err := zone(m, args, 2, at)
	if err != nil {
		return nil, err
	}
	t, ok := dateArg(args, 0, z)
	if !ok {
		return nil, noDate(at)
	}
	layout := textArg(args, 1, "")
	if err := m.grow(9*len(layout), at); err != nil { // the longest text of a token is "September"
		return nil, err
	}
	if err := m.step(1+len(layout), at); err != nil {
		return nil, err
	}
	return formatDate(t.In(z), layout), nil
}

func noDate(at int) *Error {
	return fail(CodeValue, at, "has a text that is not a date").hint("a date is 2026-03-01, 2026-03-01 14:30 or RFC 3339")
}

func addDuration(m *machine, at int, args []any) (any, error) {
	t, ok := dateArg(args, 0, m.zone())
	if !ok {
		return nil, noDate(at)
	}
	d, ok := parseDuration(textArg(args, 1, ""))
	if !ok {
		return nil, fail(CodeValue, at, "has a text that is not a duration").hint("a duration is P1D, PT2H30M or -P1M")
	}
	if t = d.addTo(t); !inYears(t) {
		return nil, fail(CodeOverflow, at, "exceeds the years that a date can have")
	}
	return t, nil
}

// unitSeconds are the units of diff with a constant length.
var unitSeconds = map[string]float64{"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}

func diff(m *machine, at int, args []any) (any, error) {
	from, ok := dateArg(args, 0, m.zone())
	to, ok2 := dateArg(args, 1, m.zone())
	if !ok || !ok2 {
		return nil, noDate(at)
	}
	unit := textArg(args, 2, "days")
	switch unit {
	case "months":
		return months(from, to), nil
	case "years":
		return months(from, to) / 12, nil
	}
	seconds, ok := unitSeconds[unit]
	if !ok {
		return nil, fail(CodeValue, at, "has a unit that does not exist").hint("units are seconds, minutes, hours, days, weeks, months, years")
	}
	elapsed := float64(to.UnixMilli()-from.UnixMilli()) / 1000 // a Duration overflows after 292 years
	return integral(elapsed / seconds), nil
}

// months returns the number of whole months between two dates.
func months(from, to time.Time) int {
	if to.Before(from) {
		return -months(to, from)
	}
	to = to.In(from.Location())
	n := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	if addMonths(from, n).After(to) {
		n--
	}
	return n
}

func datePart(m *machine, at int, args []any) (any, error) {
	z, err := zone(m, args, 2, at)
	if err != nil {
		return nil, err
	}
	t, ok := dateArg(args, 0, z)
	if !ok {
		return nil, noDate(at)
	}
	t = t.In(z)
	switch textArg(args, 1, "") {
	case "year":
		return t.Year(), nil
	case "month":
		return int(t.Month()), nil
	case "day":
		return t.Day(), nil
	case "hour":
		return t.Hour(), nil
	case "minute":
		return t.Minute(), nil
	case "second":
		return t.Second(), nil
	case "weekday":
		return (int(t.Weekday())+6)%7 + 1, nil
	case "yearday":
		return t.YearDay(), nil
	}
	return nil, fail(CodeValue, at, "has a part that a date does not have").hint("parts are year, month, day, hour, minute, second, weekday, yearday")
}
