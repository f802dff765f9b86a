package entity

import (
	"math"
	"strconv"
)

// numeral is a number in a text.
type numeral struct {
	known bool // the lookup has been done
	value float64
	exact int64 // the same, if whole
	whole bool
	end   int // the token after it; 0: there is no number

	base    float64 // without a fraction that follows in words (and a half)
	baseEnd int
	figures bool // it begins with figures
}

// numberScan reads numbers in figures and in words, and ordinals.
type numberScan struct {
	*scan
	found []numeral // by token, filled on demand
}

// aloneAt finds a number that is a word of its own. Articles are not numbers.
func (s *numberScan) aloneAt(i int) (any, int) {
	v, end := s.numberAt(i)
	if !s.whole && s.article(i, end) {
		return nil, i
	}
	return v, end
}

// numberAt finds a number in figures or words, with its sign.
func (s *numberScan) numberAt(i int) (any, int) {
	if i >= len(s.tokens) || s.touched(i) {
		return nil, i
	}
	if j := s.sign(i); j > i {
		if n := s.numeral(j); n.end > 0 {
			return negative(n), n.end
		}
	}
	n := s.numeral(i)
	if n.end == 0 {
		return nil, i
	}
	return n.any(), n.end
}

// sign returns the token after a minus.
func (s *numberScan) sign(i int) int {
	if s.is(i, "-") || s.is(i, "−") {
		if s.tokens[i].gap && s.joined(i+1) {
			return i + 1
		}
		return i
	}
	_, end := s.language.phrases["minus"].at(s.tokens, i)
	return end
}

func (n numeral) any() any {
	if n.whole {
		return n.exact
	}
	return tidy(n.value)
}

func negative(n numeral) any {
	n.value, n.exact = -n.value, -n.exact
	return n.any()
}

// tidy returns an int64 for a whole number that a float64 represents exactly.
func tidy(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		return int64(v)
	}
	return v
}

// numeral returns the number that begins at a token. It caches the result.
func (s *numberScan) numeral(i int) numeral {
	if i >= len(s.tokens) {
		return numeral{}
	}
	if n := s.found[i]; n.known {
		return n
	}
	var n numeral
	switch s.tokens[i].kind {
	case digits:
		n = s.figures(i)
	case word:
		n = s.words(i)
	case symbol:
		if n = s.fractionSign(i); n.end == 0 && s.leadsDecimals(i) {
			n = s.figures(i)
		}
	}
	if n.end > 0 {
		n = s.extended(i, n)
	}
	n.known = true
	s.found[i] = n
	return n
}

// leadsDecimals reports whether a token is the decimal separator of a number
// without a whole part, as in .5.
func (s *numberScan) leadsDecimals(i int) bool {
	return (s.is(i, ".") || s.is(i, s.language.decimal)) && s.tokens[i].gap && s.joined(i+1) && s.tokens[i+1].kind == digits
}

// extended reads what may follow a number: 20k, 3 million, 1/3, and a half.
func (s *numberScan) extended(i int, n numeral) numeral {
	if n.figures {
		n = s.multiplied(n)
		n = s.divided(i, n)
	}
	n.base, n.baseEnd = n.value, n.end
	if s.joined(n.end) && s.tokens[n.end].kind == symbol {
		if v, ok := fractionSigns[s.tokens[n.end].text]; ok && n.whole {
			return rebased(n, n.value+v, n.end+1)
		}
	}
	if _, end := s.language.phrases["andHalf"].at(s.tokens, n.end); end > n.end {
		return rebased(n, n.value+0.5*s.unitOf(n), end)
	}
	if v, end := s.partBehind(n.end); end > n.end {
		return rebased(n, n.value+v*s.unitOf(n), end)
	}
	return s.over(n)
}

// partBehind reads a fraction that follows: and three quarters.
func (s *numberScan) partBehind(i int) (float64, int) {
	if i >= len(s.tokens) {
		return 0, i
	}
	_, from := s.language.phrases["with"].at(s.tokens, i)
	if from == i && s.language.and[s.tokens[i].text] {
		from = i + 1
	}
	if from == i || from >= len(s.tokens) || s.tokens[from].kind != word {
		return 0, i
	}
	if f := s.words(from); f.end > from && f.value > 0 && f.value < 1 {
		return f.value, f.end
	}
	return 0, i
}

// over reads fractions in words: one over three, two out of five.
func (s *numberScan) over(n numeral) numeral {
	_, from := s.language.phrases["over"].at(s.tokens, n.end)
	if from == n.end || from >= len(s.tokens) || !n.whole {
		return n
	}
	var by numeral
	switch s.tokens[from].kind {
	case digits:
		by = s.figures(from)
	case word:
		by = s.words(from)
	}
	if by.end == 0 || by.value <= n.value {
		return n
	}
	return rebased(n, n.value/by.value, by.end)
}

// unitOf returns the unit of a half that follows: 1 in "one and a half", a million
// in "two million and a half".
func (s *numberScan) unitOf(n numeral) float64 {
	if scale, ok := s.language.scales[s.tokens[n.end-1].text]; ok && scale >= 1e6 {
		return scale
	}
	return 1
}

func rebased(n numeral, v float64, end int) numeral {
	out := fractional(v, end, n.figures)
	out.base, out.baseEnd = n.base, n.baseEnd
	return out
}

// multiplied reads a multiplier after figures.
func (s *numberScan) multiplied(n numeral) numeral {
	if s.joined(n.end) && s.tokens[n.end].kind == word {
		if scale, ok := s.language.attached[s.tokens[n.end].text]; ok && !s.joinedWord(n.end) {
			return fractional(n.value*scale, n.end+1, true)
		}
		return n
	}
	if sum, end := s.sum(n.end, n.value); end > n.end {
		return fractional(sum, end, true)
	}
	return n
}

// joinedWord reports whether figures follow a token without a space: 2k3 is not a
// number.
func (s *numberScan) joinedWord(i int) bool {
	return s.joined(i+1) && s.tokens[i+1].kind == digits
}

// divided reads the rest of 1/3 and of 1 1/2.
func (s *numberScan) divided(i int, n numeral) numeral {
	if n.end != i+1 {
		return n
	}
	if v, end := s.ratio(i); end > i {
		return fractional(v, end, true)
	}
	if n.end < len(s.tokens) && s.tokens[n.end].gap {
		if v, end := s.ratio(n.end); end > n.end && v < 1 {
			return fractional(n.value+v, end, true)
		}
	}
	return n
}

// ratio reads 1/3.
func (s *numberScan) ratio(i int) (float64, int) {
	if i+2 >= len(s.tokens) || s.tokens[i].kind != digits || !s.is(i+1, "/") || !s.joined(i+1) || !s.joined(i+2) || s.tokens[i+2].kind != digits ||
		s.chained(i) || !s.ended(i+3) {
		return 0, i
	}
	a, errA := strconv.ParseFloat(s.tokens[i].text, 64)
	b, errB := strconv.ParseFloat(s.tokens[i+2].text, 64)
	if errA != nil || errB != nil || b == 0 {
		return 0, i
	}
	return a / b, i + 3
}
