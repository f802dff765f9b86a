package mcp

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

func (d *decoder) text(at *path, raw []byte, s *shape, dst reflect.Value) {
	if jsonscan.Kind(raw) != '"' {
		d.fail(at, "must be a string")
		return
	}
	text, problem := textOf(raw)
	switch {
	case problem != "":
		d.fail(at, "%s", problem)
	case s.enum != nil && !slices.Contains(s.enum, text):
		d.fail(at, "must be one of %s", strings.Join(s.enum, ", "))
	case s.text:
		d.unmarshaledText(at, text, dst)
	default:
		d.count(at, utf8.RuneCountInString(text), s, "characters")
		dst.SetString(text)
	}
}

// count checks a length against its limits.
func (d *decoder) count(at *path, n int, s *shape, what string) {
	switch {
	case s.maxLen > 0 && n > s.maxLen:
		d.fail(at, "must have at most %d %s", s.maxLen, what)
	case n < s.minLen && s.minLen == 1:
		d.fail(at, "must not be empty")
	case n < s.minLen:
		d.fail(at, "must have at least %d %s", s.minLen, what)
	}
}

// textOf decodes a string, or returns what is wrong with it. Some databases cannot
// store U+0000, and half a surrogate pair is not a character.
func textOf(raw []byte) (text, problem string) {
	raw = bytes.TrimSpace(raw)
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), ""
	}
	if json.Unmarshal(raw, &text) != nil {
		return "", "must be a string"
	}
	if strings.IndexByte(text, 0) >= 0 {
		return "", "must not contain U+0000"
	}
	if strings.ContainsRune(text, utf8.RuneError) && halfPair(raw) {
		return "", "contains half of a surrogate pair"
	}
	return text, ""
}

// halfPair reports whether there is an escaped surrogate without its other half.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		r := escaped(raw[i:])
		if r < 0xD800 || r > 0xDFFF {
			continue
		}
		low := rune(-1)
		if rest := raw[min(i+5, len(raw)):]; len(rest) > 1 && rest[0] == '\\' {
			low = escaped(rest[1:])
		}
		if r > 0xDBFF || low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 10
	}
	return false
}

// escaped returns the code unit of "uXXXX", −1 for anything else.
func escaped(raw []byte) rune {
	if len(raw) < 5 || raw[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[1:5]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

func (d *decoder) integer(at *path, raw []byte, s *shape, dst reflect.Value) {
	if !isNumber(raw) {
		d.fail(at, "must be a whole number")
		return
	}
	unsigned := dst.CanUint()
	whole, problem := wholeOf(string(raw))
	if problem != "" {
		d.fail(at, "%s", problem)
		return
	}
	var approx float64
	if unsigned {
		n, err := strconv.ParseUint(whole, 10, 64)
		if err != nil || dst.OverflowUint(n) {
			d.fail(at, "is out of range")
			return
		}
		dst.SetUint(n)
		approx = float64(n)
	} else {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || dst.OverflowInt(n) {
			d.fail(at, "is out of range")
			return
		}
		dst.SetInt(n)
		approx = float64(n)
	}
	d.bounds(at, approx, s)
}

func isNumber(raw []byte) bool {
	k := jsonscan.Kind(raw)
	return k == '-' || k >= '0' && k <= '9'
}

// wholeOf returns the number without its fraction, which must be zero, and without
// its exponent: in JSON Schema, 5.0 and 5e0 are integers.
func wholeOf(raw string) (whole, problem string) {
	if e := strings.IndexAny(raw, "eE"); e >= 0 {
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil || math.Abs(f) >= 1<<53 {
			return "", "is out of range"
		}
		raw = strconv.FormatFloat(f, 'f', -1, 64)
	}
	whole, fraction, _ := strings.Cut(raw, ".")
	if strings.Trim(fraction, "0") != "" {
		return "", "must be a whole number"
	}
	if whole == "-0" {
		whole = "0"
	}
	return whole, ""
}

func (d *decoder) number(at *path, raw []byte, s *shape, dst reflect.Value) {
	if !isNumber(raw) {
		d.fail(at, "must be a number")
		return
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || dst.OverflowFloat(f) {
		d.fail(at, "is out of range")
		return
	}
	dst.SetFloat(f)
	d.bounds(at, f, s)
}

func (d *decoder) bounds(at *path, n float64, s *shape) {
	switch {
	case s.minimum != nil && n < *s.minimum:
		d.fail(at, "must be at least %s", number(s.minimum))
	case s.maximum != nil && n > *s.maximum:
		d.fail(at, "must be at most %s", number(s.maximum))
	}
}
