package entity

import (
	"math"
	"strconv"
	"strings"
)

// words reads a number in words.
func (s *numberScan) words(i int) numeral {
	if n := s.halves(i); n.end > 0 {
		return n
	}
	from := i
	_, one := s.language.phrases["one"].at(s.tokens, i)
	v, end := s.sum(from, 0)
	if end == i && one > i {
		if v, end = s.sum(one, 1); end == one {
			if d, behind := s.denominator(one, 1); d > 0 {
				return fractional(1/d, behind, false)
			}
			return numeral{}
		}
	}
	if end == i {
		return numeral{}
	}
	if d, behind := s.denominator(end, v); d > 0 {
		return fractional(v/d, behind, false)
	}
	v, end = s.decimals(v, end)
	return fractional(v, end, false)
}

// halves reads half a million, a quarter million, and a half alone.
func (s *numberScan) halves(i int) numeral {
	text, end := s.language.phrases["half"].at(s.tokens, i)
	part, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return numeral{}
	}
	if sum, behind := s.sum(end, 1); behind > end && s.language.scales[s.tokens[end].text] > 0 {
		return fractional(sum*part, behind, false)
	}
	if part != 0.5 {
		return numeral{}
	}
	return fractional(part, end, false)
}

// denominator returns the divisor that a word names (three quarters) and the token
// after it. After a number other than one it must be a plural.
func (s *numberScan) denominator(i int, of float64) (float64, int) {
	if s.hyphened(i) {
		i++
	} else if i < len(s.tokens) && !s.tokens[i].gap {
		return 0, i
	}
	if i >= len(s.tokens) {
		return 0, i
	}
	d := s.language.fractions[s.tokens[i].text]
	if d > 0 && (of == 1) == strings.HasSuffix(s.tokens[i].text, "s") {
		return 0, i
	}
	return d, i + 1
}

// decimals reads the rest of a number such as two point five.
func (s *numberScan) decimals(v float64, i int) (float64, int) {
	_, from := s.language.phrases["point"].at(s.tokens, i)
	if from == i || v != math.Trunc(v) || v > 1e15 {
		return v, i
	}
	text, end := "", from
	for end < len(s.tokens) && end < from+15 {
		n, ok := s.language.cardinals[s.tokens[end].text]
		if !ok || n > 9 {
			break
		}
		text += strconv.Itoa(int(n))
		end++
	}
	if sum, last := s.sum(from, 0); last > end {
		text, end = strconv.FormatFloat(sum, 'f', 0, 64), last
	}
	n, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 0, 64)+"."+text, 64)
	if text == "" || err != nil {
		return v, i
	}
	return n, end
}

// sum reads words that form one number: two thousand three hundred and five. After
// figures, only multipliers may come first.
func (s *numberScan) sum(i int, figures float64) (float64, int) {
	c := counter{language: s.language, group: figures}
	end := i
	for j := i; j < len(s.tokens); {
		t := s.tokens[j]
		switch {
		case j > i && j == end+1 && c.figures(t):
			j++
			end = j
			continue
		case t.kind == word && c.take(t.text, figures > 0 && end == i):
			j++
			end = j
			continue
		case end == j && end > i && s.connects(j, &c):
			j++
			continue
		}
		break
	}
	if end == i {
		return 0, i
	}
	return c.total(), end
}

// connects reports whether a token may join the words of a number, and a number
// word or figures follow it (3 hundred and 21).
func (s *numberScan) connects(i int, c *counter) bool {
	if i+1 >= len(s.tokens) {
		return false
	}
	and := s.language.and[s.tokens[i].text]
	if !and && !s.hyphened(i) {
		return false
	}
	if n, err := strconv.ParseFloat(s.tokens[i+1].text, 64); and && err == nil {
		return c.group >= 100 && c.fits(n) && n < 100 && !s.joined(i+2)
	}
	n, ok := s.language.cardinals[s.tokens[i+1].text]
	if !ok || !c.fits(n) {
		return false
	}
	d, _ := s.denominator(i+2, n)
	return !and || d == 0
}

// counter adds up the words of a number.
type counter struct {
	language *language
	parts    []part // each is smaller than the one before
	group    float64
	any      bool // the group has a word
}

type part struct{ value, scale float64 }

// take adds a word. onlyScale means that figures precede it.
func (c *counter) take(w string, onlyScale bool) bool {
	if c.language.hundreds[w] {
		if c.group >= 100 && !onlyScale || c.group != math.Trunc(c.group) && !onlyScale {
			return false
		}
		c.group = max(c.group, 1) * 100
		c.any = true
		return true
	}
	if scale, ok := c.language.scales[w]; ok {
		return c.scale(scale, onlyScale)
	}
	n, ok := c.language.cardinals[w]
	if !ok || onlyScale || !c.fits(n) {
		return false
	}
	c.group += n
	c.any = true
	return true
}

// figures adds figures that connects has accepted.
func (c *counter) figures(t token) bool {
	n, err := strconv.ParseFloat(t.text, 64)
	if t.kind != digits || err != nil {
		return false
	}
	c.group += n
	c.any = true
	return true
}

// fits reports whether a number can be added to the group: three can follow twenty,
// thirty cannot.
func (c *counter) fits(n float64) bool {
	below := math.Mod(c.group, 100)
	switch {
	case !c.any && c.group == 0:
		return n < 1000
	case n == 0 || n >= 1000 || c.group != math.Trunc(c.group):
		return false
	case n >= 100:
		return c.group == 0
	case n >= 10:
		return below == 0
	}
	return math.Mod(below, 10) == 0 && below != 10
}

// scale multiplies the group, and the parts that are smaller than the scale, by it.
func (c *counter) scale(scale float64, onlyScale bool) bool {
	v := c.group
	n := len(c.parts)
	for n > 0 && c.parts[n-1].scale < scale {
		v += c.parts[n-1].value
		n--
	}
	if n > 0 && c.parts[n-1].scale == scale {
		return false
	}
	if v == 0 {
		if c.any || onlyScale {
			return false
		}
		v = 1
	}
	c.parts = append(c.parts[:n], part{v * scale, scale})
	c.group, c.any = 0, false
	return true
}

func (c *counter) total() float64 {
	v := c.group
	for _, p := range c.parts {
		v += p.value
	}
	return v
}
