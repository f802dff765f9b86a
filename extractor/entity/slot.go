package entity

import (
	"strconv"
	"strings"
)

// timeScan reads dates, times and durations by the rules of the language. It fills
// the slots of the rules.
type timeScan struct {
	*numberScan
	lengths []length // by token, filled on demand
}

// bound holds the values of a rule's slots.
type bound struct {
	day, month, year, weekday, nth int
	hour, minute, second           int
	part                           string
	count                          float64
	base                           int // days from today
	sum                            span
}

// span is a length of time. Months and years are counted apart because their
// lengths vary.
type span struct {
	years, months, days, seconds float64
}

// The length of a month and a year in a duration, and the seconds of a day.
const (
	daysOfMonth = 30
	daysOfYear  = 365
	secondsADay = 24 * 60 * 60
)

// fill fills a slot from a token and returns the token after it, or the same token
// if nothing fits. A name that is not a slot of this function is a table of phrases
// in the language's file.
func (s *timeScan) fill(name string, i int, b *bound) int {
	if i >= len(s.tokens) {
		return i
	}
	switch name {
	case "d":
		return s.figureSlot(i, 1, 2, 1, 31, &b.day)
	case "m":
		return s.figureSlot(i, 1, 2, 1, 12, &b.month)
	case "y4":
		return s.figureSlot(i, 4, 4, 1000, 2999, &b.year)
	case "y":
		return s.yearSlot(i, &b.year)
	case "h":
		return s.figureSlot(i, 1, 2, 0, 24, &b.hour)
	case "year":
		if s.figureSlot(i, 2, 2, 0, 99, &b.year) > i {
			return i
		}
		return s.yearSlot(i, &b.year)
	case "mm":
		return s.figureSlot(i, 2, 2, 0, 59, &b.minute)
	case "ss":
		return s.figureSlot(i, 2, 2, 0, 59, &b.second)
	case "hmm":
		return s.packedSlot(i, b)
	case "day":
		return s.daySlot(i, b)
	case "hour":
		return s.countSlot(i, 24, &b.hour)
	case "minute":
		return s.countSlot(i, 59, &b.minute)
	case "mins":
		return s.minutesSlot(i, b)
	case "n":
		return s.amountSlot(i, &b.count)
	case "span":
		return s.spanSlot(i, &b.sum)
	case "ordinal":
		return s.nthSlot(i, &b.nth)
	}
	return s.phraseSlot(name, i, b)
}

// figureSlot reads figures of a length and within bounds.
func (s *timeScan) figureSlot(i, minLen, maxLen, low, high int, to *int) int {
	t := s.tokens[i]
	n, err := strconv.Atoi(t.text)
	if t.kind != digits || len(t.text) < minLen || len(t.text) > maxLen || err != nil || n < low || n > high {
		return i
	}
	*to = n
	return i + 1
}

// yearSlot reads a year of four or two figures, or in words.
func (s *timeScan) yearSlot(i int, to *int) int {
	if end := s.figureSlot(i, 4, 4, 1000, 2999, to); end > i {
		return end
	}
	if end := s.figureSlot(i, 2, 2, 0, 99, to); end > i {
		// Two figures mean a year from 1950 to 2049.
		if *to += 2000; *to >= 2050 {
			*to -= 100
		}
		return end
	}
	if s.tokens[i].kind != word {
		return i
	}
	n := s.numeral(i)
	if n.end > 0 && n.whole && n.value >= 1000 && n.value < 3000 {
		*to = int(n.value)
		return n.end
	}
	var century, rest int
	at := s.countSlot(i, 20, &century)
	if at == i || century < 13 || at >= len(s.tokens) || s.tokens[at].kind != word {
		return i
	}
	end := s.countSlot(at, 99, &rest)
	if end == at || rest < 10 { // nineteen ninety
		return i
	}
	*to = 100*century + rest
	return end
}

// packedSlot reads 340 and 1140 as hours and minutes.
func (s *timeScan) packedSlot(i int, b *bound) int {
	t := s.tokens[i]
	n, err := strconv.Atoi(t.text)
	if t.kind != digits || len(t.text) < 3 || len(t.text) > 4 || err != nil || n%100 > 59 || n/100 > 23 {
		return i
	}
	b.hour, b.minute = n/100, n%100
	return i + 1
}

// daySlot reads a day of a month: 2, 2nd, second, two.
func (s *timeScan) daySlot(i int, b *bound) int {
	if end := s.nthSlot(i, &b.day); end > i && b.day >= 1 && b.day <= 31 {
		return end
	}
	end := s.countSlot(i, 31, &b.day)
	if b.day == 0 {
		return i
	}
	return end
}

// nthSlot reads an ordinal.
func (s *timeScan) nthSlot(i int, to *int) int {
	v, end := s.ordinalAt(i)
	if end == i {
		return i
	}
	n := v.(int64)
	if n > 1000 || n < -1 {
		return i
	}
	*to = int(n)
	return end
}

// countSlot reads a small whole number in up to two figures or in words.
func (s *timeScan) countSlot(i, high int, to *int) int {
	if s.tokens[i].kind == digits {
		return s.figureSlot(i, 1, 2, 0, high, to)
	}
	if s.tokens[i].kind != word {
		return i
	}
	n := s.numeral(i)
	if n.end == 0 || n.base < 0 || n.base > float64(high) || n.base != float64(int(n.base)) {
		return i
	}
	*to = int(n.base)
	return n.baseEnd
}

// minutesSlot reads a number of minutes. An article is not one: las nueve y una
// pizza.
func (s *timeScan) minutesSlot(i int, b *bound) int {
	var n int
	end := s.countSlot(i, 59, &n)
	if s.article(i, end) {
		return i
	}
	b.count = float64(n)
	return end
}

// amountSlot reads any number, or words for one: a, a few.
func (s *timeScan) amountSlot(i int, to *float64) int {
	if v, end := s.language.phrases["few"].at(s.tokens, i); end > i {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return i
		}
		*to = n
		return end
	}
	if n := s.numeral(i); n.end > 0 {
		*to = n.value
		return n.end
	}
	if _, end := s.language.phrases["one"].at(s.tokens, i); end > i {
		*to = 1
		return end
	}
	return i
}

// length is a cached sum of lengths of time.
type length struct {
	known bool // the lookup has been done
	sum   span
	end   int // the token after it; its own beginning: there is none
}

// spanSlot reads lengths of time that add up: 2 years, 1 month and 3 days. It
// caches the result.
func (s *timeScan) spanSlot(i int, to *span) int {
	if l := &s.lengths[i]; !l.known {
		l.known = true
		l.end = s.addedLengths(i, &l.sum)
	}
	*to = s.lengths[i].sum
	return s.lengths[i].end
}

func (s *timeScan) addedLengths(i int, to *span) int {
	end := i
	for range 6 {
		from := end
		if end > i {
			if s.is(from, ",") {
				from++
			}
			if from < len(s.tokens) && s.language.and[s.tokens[from].text] {
				from++
			}
		}
		behind := s.lengthSlot(from, to)
		if behind == from {
			break
		}
		end = behind
	}
	return end
}

// lengthSlot adds one length: 3 days, an hour and a half.
func (s *timeScan) lengthSlot(i int, to *span) int {
	if i >= len(s.tokens) {
		return i
	}
	var n float64
	at := s.amountSlot(i, &n)
	if at == i {
		return i
	}
	if s.hyphened(at) {
		at++
	}
	unit, end := s.language.phrases["unit"].at(s.tokens, at)
	if end == at {
		return i
	}
	if _, half := s.language.phrases["andHalf"].at(s.tokens, end); half > end {
		n, end = n+0.5, half
	}
	return s.add(to, n, unit, i, end)
}

// add adds n units. unit is a number followed by one of s, d, m, y.
func (s *timeScan) add(to *span, n float64, unit string, i, end int) int {
	size, err := strconv.ParseFloat(unit[:len(unit)-1], 64)
	if err != nil || n > 1e6 {
		return i
	}
	switch unit[len(unit)-1] {
	case 'y':
		to.years += n * size
	case 's':
		to.seconds += n * size
	case 'd':
		to.days += n * size
	default:
		to.months += n * size
	}
	return end
}

// phraseSlot reads a phrase of the language's file.
func (s *timeScan) phraseSlot(name string, i int, b *bound) int {
	v, end := s.language.phrases[name].at(s.tokens, i)
	if end == i {
		return i
	}
	if name == "part" || name == "when" {
		b.part = v
		return end
	}
	if name == "unit" {
		return s.add(&b.sum, 1, v, i, end)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(v, "+"))
	if err != nil {
		return i
	}
	switch name {
	case "month":
		b.month = n
	case "weekday", "wd": // wd: also short forms, which are other words elsewhere
		b.weekday = n
	case "base":
		b.base = n
	case "quarter":
		b.count = float64(n)
	}
	return end
}
