package node

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// parseNumber returns the only number in a text, in the notation of a locale:
// 1,234.5 or 1.234,5 or 1 234,5, with digits of any script.
func parseNumber(said, locale string) (any, bool) {
	digits := asciiDigits(said)
	var found string
	for _, token := range numberTokens(digits) {
		if found != "" {
			return nil, false
		}
		found = token
	}
	if found == "" {
		return nil, false
	}
	plain, ok := plainNumber(found, locale)
	if !ok {
		return nil, false
	}
	if n, err := strconv.Atoi(plain); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		return nil, false
	}
	v, err := values.AdmitFloat(f)
	return v, err == nil
}

// asciiDigits converts the digits of all scripts to 0 to 9.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case r == '−' || r == '–':
			return '-'
		case r == '\u00A0' || r == '\u202F' || r == '\u2009':
			return ' '
		case r == '’':
			return '\''
		case r == '٫':
			return '.'
		case r == '٬':
			return ','
		case unicode.Is(unicode.Nd, r):
			return '0' + digitOf(r)
		}
		return r
	}, s)
}

// digitOf returns the value of a decimal digit: each script has its ten digits in a
// row.
func digitOf(r rune) rune {
	n := rune(0)
	for n < 9 && unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	return n
}

// numberTokens returns the runs of digits with the marks that a number may have. A
// space between groups of three digits belongs to the number.
func numberTokens(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			i++
			continue
		}
		from := i
		for i < len(s) && inNumber(s, i) {
			i++
		}
		if from > 0 && s[from-1] == '-' && (from == 1 || s[from-2] == ' ') {
			from--
		}
		out = append(out, strings.TrimRight(s[from:i], ".,'"))
	}
	return out
}

func inNumber(s string, i int) bool {
	switch c := s[i]; {
	case c >= '0' && c <= '9', c == '.', c == ',', c == '\'':
		return true
	case c == ' ':
		return group(s[i+1:])
	}
	return false
}

// group reports whether a text begins with exactly three digits.
func group(s string) bool {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n == 3
}

// groupMarks removes the marks that separate groups of digits in all locales.
var groupMarks = strings.NewReplacer(" ", "", "'", "")

// plainNumber rewrites a number with a decimal point and without groups.
func plainNumber(s, locale string) (string, bool) {
	s = groupMarks.Replace(s)
	point, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	switch {
	case point >= 0 && comma >= 0:
		if point > comma {
			return grouped(s, ",", ".")
		}
		return grouped(s, ".", ",")
	case comma >= 0:
		return single(s, ",", !decimalComma(locale))
	case point >= 0:
		return single(s, ".", decimalComma(locale))
	}
	return s, true
}

// grouped removes the group mark. The other mark is the decimal mark, which may
// occur only once.
func grouped(s, mark, decimal string) (string, bool) {
	if strings.Count(s, decimal) != 1 {
		return "", false
	}
	return strings.Replace(strings.ReplaceAll(s, mark, ""), decimal, ".", 1), true
}

// single handles a number with one kind of mark. It separates groups if it occurs
// several times, or if three digits follow and the locale uses it for groups;
// otherwise it is the decimal mark.
func single(s, mark string, groups bool) (string, bool) {
	parts := strings.Split(s, mark)
	last := parts[len(parts)-1]
	if len(parts) > 2 || groups && len(last) == 3 && len(parts[0]) <= 4 && strings.Trim(parts[0], "-0") != "" {
		for _, p := range parts[1:] {
			if len(p) != 3 {
				return "", false
			}
		}
		return strings.Join(parts, ""), true
	}
	return strings.Join(parts, "."), true
}

// decimalComma reports whether people of a locale write 1.234,5.
func decimalComma(locale string) bool {
	language, region, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(locale, "_", "-")), "-")
	switch region {
	case "mx", "ch", "li", "us", "gb", "in", "ph":
		return false
	}
	return strings.Contains(" de fr es it pt nl pl cs sk ru uk tr sv da nb no fi el hu ro bg hr sr sl id vi ca lt lv et is be kk ", " "+language+" ")
}
