package entity

import (
	"math"
	"strconv"
	"strings"
)

// maxFigures is the maximum number of tokens of a number in figures: 20 digits with
// separators have 13.
const maxFigures = 16

// figures reads a number in figures, with thousands and decimal separators.
func (s *numberScan) figures(i int) numeral {
	end := i + 1
	for end < i+maxFigures && s.joined(end) && (s.is(end, ".") || s.is(end, ",") || s.is(end, "'")) && s.joined(end+1) && s.tokens[end+1].kind == digits {
		end += 2
	}
	if s.tokens[i].kind == symbol {
		end = i + 2
	}
	if end == i+1 {
		end = s.spaced(i)
	}
	text := s.plain(i, end)
	if text == "" {
		text, end = s.tokens[i].text, i+1
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return numeral{}
	}
	n := numeral{value: v, end: end, figures: true}
	n.exact, err = strconv.ParseInt(text, 10, 64)
	n.whole = err == nil
	if !n.whole && v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		n.exact, n.whole = int64(v), true
	}
	return s.power(s.exponent(n))
}

// spaced returns the token after thousands that spaces separate: 1 234 567.
func (s *numberScan) spaced(i int) int {
	end := i + 1
	if len(s.tokens[i].text) > 3 || s.tokens[i].text[0] == '0' {
		return end
	}
	for end < i+maxFigures && end < len(s.tokens) && s.tokens[end].gap && s.tokens[end].kind == digits && len(s.tokens[end].text) == 3 {
		end++
	}
	if end > i+1 && s.joined(end) && s.is(end, s.language.decimal) && s.joined(end+1) && s.tokens[end+1].kind == digits {
		end += 2
	}
	return end
}

// power reads the rest of 2^10.
func (s *numberScan) power(n numeral) numeral {
	i := n.end + 1
	if !s.joined(n.end) || !s.is(n.end, "^") || !s.joined(i) {
		return n
	}
	sign := 1.0
	if s.is(i, "-") && s.joined(i+1) {
		sign, i = -1, i+1
	}
	if s.tokens[i].kind != digits {
		return n
	}
	e, err := strconv.ParseFloat(s.tokens[i].text, 64)
	if err != nil {
		return n
	}
	return fractional(math.Pow(n.value, sign*e), i+1, true)
}

// exponent reads the rest of 1e10.
func (s *numberScan) exponent(n numeral) numeral {
	if !s.joined(n.end) || !s.is(n.end, "e") || !s.joined(n.end+1) {
		return n
	}
	i, sign := n.end+1, 1.0
	if (s.is(i, "+") || s.is(i, "-")) && s.joined(i+1) {
		if s.is(i, "-") {
			sign = -1
		}
		i++
	}
	e, err := strconv.Atoi(s.tokens[i].text)
	if s.tokens[i].kind != digits || err != nil || e > 300 {
		return n
	}
	v := n.value * math.Pow(10, sign*float64(e))
	return fractional(v, i+1, true)
}

// fractional returns a number that was computed.
func fractional(v float64, end int, figures bool) numeral {
	n := numeral{value: v, end: end, figures: figures}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return numeral{}
	}
	n.exact, n.whole = tidy(v).(int64)
	return n
}

// plain returns figures in the syntax of strconv, or "" if their separators make no
// sense.
func (s *numberScan) plain(i, end int) string {
	marks := map[string]int{}
	last := ""
	for j := i; j < end; j++ {
		if s.tokens[j].kind == symbol {
			last = s.tokens[j].text
			marks[last]++
		}
	}
	decimal := s.decimalMark(i, end, marks, last)
	if decimal == "" && len(marks) > 1 || len(marks) > 2 || decimal != "" && marks[decimal] > 1 {
		return ""
	}
	var out strings.Builder
	seen := false
	for j := i; j < end; j++ {
		t := s.tokens[j]
		switch {
		case t.text == decimal:
			out.WriteByte('.')
			seen = true
		case t.kind == digits:
			if j > i && s.tokens[j-1].kind == symbol && s.tokens[j-1].text != decimal && len(t.text) != 3 || j == i && len(marks) > 0 && !seen && len(t.text) > 3 && s.tokens[i+1].text != decimal {
				return ""
			}
			out.WriteString(t.text)
		case seen: // a thousands separator after the decimals
			return ""
		}
	}
	return out.String()
}

// decimalMark returns the separator of the decimals, or "" if there are none.
func (s *numberScan) decimalMark(i, end int, marks map[string]int, last string) string {
	switch {
	case len(marks) == 2:
		return last
	case len(marks) != 1 || marks[last] > 1 || last == "'":
		return ""
	case s.tokens[i].kind == symbol:
		return last
	case last == s.language.decimal:
		return last
	case len(s.tokens[end-1].text) == 3 && len(s.tokens[i].text) <= 3 && s.tokens[i].text != "0":
		return "" // 1.234 where the comma separates decimals
	}
	return last
}

// fractionSign reads ½.
func (s *numberScan) fractionSign(i int) numeral {
	v, ok := fractionSigns[s.tokens[i].text]
	if !ok {
		return numeral{}
	}
	return fractional(v, i+1, true)
}

var fractionSigns = map[string]float64{"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1.0 / 3, "⅔": 2.0 / 3, "⅛": 0.125}
