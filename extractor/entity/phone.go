package entity

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Limits of a phone number in digits (E.164), and the maximum number of lookups for
// one text: a lookup in the numbering plans is slow.
const (
	minPhone  = 7
	maxPhone  = 15
	maxPhones = 64
)

// phones finds phone numbers.
func (f *finder) phones() []Match {
	var out []Match
	tried := 0
	for i := 0; i < len(f.tokens) && tried < maxPhones; {
		end, count := f.phoneRun(i)
		if count < minPhone || !f.alone(i, end) {
			i++
			if count > 0 {
				i = max(i, end)
			}
			continue
		}
		end = f.extension(end)
		tried++
		if number, sure := f.phone(f.text[f.tokens[i].start:f.tokens[end-1].end]); sure > 0 {
			out = append(out, f.match(Phone, number, f.tokens[i].start, f.tokens[end-1].end, sure))
		}
		i = end
	}
	return out
}

// phoneRun returns the end of a run of figures with the separators of phone
// numbers, and the number of digits in it.
func (f *finder) phoneRun(i int) (end, count int) {
	open := 0
	marks := 0
	last := i
	for j := i; j < len(f.tokens) && marks <= 2; j++ {
		t := f.tokens[j]
		switch {
		case t.kind == digits:
			if count+len(t.text) > maxPhone+2 {
				return last, count
			}
			count += len(t.text)
			last, marks = j+1, 0
			continue
		case t.text == "+" && (j == i || j == i+1 && open == 1):
		case t.text == "(" && open == 0 && (j == i || count > 0 || f.is(i, "+")):
			open++
		case t.text == ")" && open == 1:
			open++
		case strings.Contains("-./", t.text) && count > 0:
		default:
			return last, count
		}
		marks++
	}
	return last, count
}

// extension returns the token after an extension (x 123), or the same token if
// there is none.
func (f *finder) extension(i int) int {
	at := i + 1
	if !f.is(i, "x") && !f.is(i, "ext") {
		return i
	}
	if f.is(at, ".") {
		at++
	}
	if at < len(f.tokens) && f.tokens[at].kind == digits && len(f.tokens[at].text) <= 5 {
		return at + 1
	}
	return i
}

// alone reports whether a run is not part of a word, an amount, a date, a number
// after # or a decimal such as 0.123.
func (f *finder) alone(i, end int) bool {
	if i > 0 && f.joined(i) && (f.tokens[i-1].kind != symbol || strings.Contains("#$€£@_/=.-", f.tokens[i-1].text)) {
		return false
	}
	if f.tokens[i].text == "0" && f.is(i+1, ".") {
		return false
	}
	if f.joined(end) && f.extension(end) == end && (f.tokens[end].kind != symbol || strings.Contains("%$€£@_=", f.tokens[end].text)) {
		return false
	}
	if _, to := f.times.dateAt(i); to >= min(end, i+5) {
		return false
	}
	return strings.Count(f.text[f.tokens[i].start:f.tokens[end-1].end], "/") <= 1
}

// phone parses a number and returns its confidence; 0: it is not a phone number.
func (f *finder) phone(said string) (string, float64) {
	plain := said
	if rest, ok := strings.CutPrefix(said, "00"); ok {
		plain = "+" + rest
	}
	n, err := phonenumbers.Parse(plain, f.region)
	switch {
	case err == nil && phonenumbers.IsValidNumber(n):
		sure := 0.8
		if strings.Contains(plain, "+") {
			sure = 0.97
		}
		return phonenumbers.Format(n, phonenumbers.E164), sure
	case !f.options.PossiblePhones:
		return "", 0
	case err == nil && phonenumbers.IsPossibleNumber(n):
		return phonenumbers.Format(n, phonenumbers.E164), 0.5
	case f.region == "" && plain[0] != '+' && digitCount(said) <= maxPhone:
		return strings.Map(keepDigits, said), 0.3
	}
	return "", 0
}

func keepDigits(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

func digitCount(s string) int { return len(strings.Map(keepDigits, s)) }
