package flow

import (
	"strconv"
	"strings"
)

// cronFields are the parts of a schedule and their ranges. Sunday is 0 or 7.
var cronFields = []struct {
	name      string
	low, high int
}{{"minute", 0, 59}, {"hour", 0, 23}, {"day", 1, 31}, {"month", 1, 12}, {"weekday", 0, 7}}

// cron checks a schedule: five fields of numbers, ranges, lists and steps, as
// */15 8-18 * * 1-5.
func (c *Checker) cron(text string, at ...any) {
	if text == "" {
		return
	}
	parts := strings.Fields(text)
	if len(parts) != len(cronFields) {
		c.Problem("trigger.cron", "has no five fields", "minute, hour, day, month, weekday: 0 9 * * 1-5", at...)
		return
	}
	for i, f := range cronFields {
		for item := range strings.SplitSeq(parts[i], ",") {
			if !isCron(item, f.low, f.high) {
				c.Problem("trigger.cron", "the "+f.name+" "+strconv.Quote(shorten(item))+" is none", "from "+strconv.Itoa(f.low)+" to "+strconv.Itoa(f.high), at...)
			}
		}
	}
}

func isCron(item string, low, high int) bool {
	item, step, stepped := strings.Cut(item, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > high) {
		return false
	}
	if item == "*" {
		return true
	}
	from, to, ranged := strings.Cut(item, "-")
	a, err := strconv.Atoi(from)
	if err != nil || a < low || a > high {
		return false
	}
	b, err := strconv.Atoi(to)
	return !ranged || err == nil && b >= a && b <= high
}
