package entity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// timeAt finds a time of day.
func (s *timeScan) timeAt(i int) (any, int) {
	if s.touched(i) {
		return nil, i
	}
	return s.language.time.at(s, i, timeOf)
}

// timeOf returns the time that a rule means: clock (hour, minute, second), past and
// to (minutes relative to the hour), or the time itself.
func timeOf(r *rule, b bound) (any, bool) {
	minutes := 0
	switch r.is {
	case "clock":
	case "past":
		minutes = int(b.count)
	case "to":
		minutes = -int(b.count)
	default:
		return r.is, strings.Contains(r.is, ":")
	}
	hour, ok := hourOf(b.hour, b.part)
	if !ok || b.count < 0 || b.count > 59 || b.count != math.Trunc(b.count) || b.hour == 24 && b.minute+b.second > 0 {
		return nil, false
	}
	at := ((hour*60+b.minute+minutes)*60 + b.second + secondsADay) % secondsADay
	return fmt.Sprintf("%02d:%02d:%02d", at/3600, at/60%60, at%60), true
}

// hourOf returns an hour of the day by the part of the day: am, pm, or night, of
// which the hours after midnight are a part.
func hourOf(hour int, part string) (int, bool) {
	switch {
	case part == "":
	case part == "am" && hour == 12, part == "night" && hour == 12:
		return 0, true
	case part == "am":
		return hour, hour < 12
	case hour < 12 && (part == "pm" || hour >= 6):
		return hour + 12, true
	}
	return hour, hour <= 24
}

// durationAt finds a length of time.
func (s *timeScan) durationAt(i int) (any, int) {
	if s.touched(i) {
		return nil, i
	}
	return s.language.duration.at(s, i, func(r *rule, b bound) (any, bool) {
		if seconds, err := strconv.ParseInt(r.is, 10, 64); err == nil {
			return seconds, true // the words are the duration itself
		}
		days := b.sum.years*daysOfYear + b.sum.months*daysOfMonth + b.sum.days
		v := days*secondsADay + b.sum.seconds
		return tidy(v), v > 0
	})
}
