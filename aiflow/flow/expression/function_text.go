package expression

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

var textFunctions = []declared{
	{"upper(text: text): text", "The text in upper case.", mapped(strings.ToUpper)},
	{"lower(text: text): text", "The text in lower case.", mapped(strings.ToLower)},
	{"title(text: text): text", "The text with an upper-case letter at the start of each word.", mapped(title)},
	{"trim(text: text): text", "The text without spaces at both ends.", mapped(strings.TrimSpace)},
	{"digits(text: text): text", "Only the digits 0 to 9 of the text, for example of a phone number.", mapped(digits)},
	{"urlEncode(text: text): text", "The text, escaped for use in a URL.", urlEncode},
	{"truncate(text: text, length: number, end?: text): text", "The first characters of the text. If it is cut, it ends with end, for example …; it is never longer than length.", truncate},
	{"padStart(text: text, length: number, fill?: text): text", "The text, filled from the left to the length: padStart(\"7\", 3, \"0\") is \"007\".", padStart},
	{"repeat(text: text, times: number): text", "The text, repeated several times.", repeat},
	{"replace(text: text, old: text, new: text): text", "The text with every old part replaced by the new one.", replace},
	{"split(text: text, separator: text): list", "The parts of the text between the separators. With \"\", its characters.", split},
	{"indexOf(text: text, part: text): number", "The index of the part in the text, from 0; nil if the text does not have it.", indexOf},
	{"capture(text: text, pattern: pattern, group?: number|text): text", "The first match of the pattern in the text, or one group of it; nil if there is no match.", capture},
}

// mapped returns the implementation of a function whose result is about as long as
// its text.
func mapped(f func(string) string) func(m *machine, at int, args []any) (any, error) {
	return func(m *machine, at int, args []any) (any, error) {
		s := textArg(args, 0, "")
		if err := m.scan(len(s), at); err != nil {
			return nil, err
		}
		if err := m.grow(len(s), at); err != nil {
			return nil, err
		}
		out := f(s)
		return out, m.grow(max(0, len(out)-len(s)), at)
	}
}

func title(s string) string {
	begins := true
	return strings.Map(func(r rune) rune {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’':
			begins = !unicode.IsDigit(r)
			return r
		case begins:
			begins = false
			return unicode.ToTitle(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

func urlEncode(m *machine, at int, args []any) (any, error) {
	s := textArg(args, 0, "")
	if err := m.scan(len(s), at); err != nil {
		return nil, err
	}
	if err := m.grow(3*len(s), at); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), nil
}

func truncate(m *machine, at int, args []any) (any, error) {
	s, end := textArg(args, 0, ""), textArg(args, 2, "")
	length, err := wholeArg(args, 0, at, "the length")
	if err != nil {
		return nil, err
	}
	have, err := m.length(s, at)
	if err != nil {
		return nil, err
	}
	if have <= length {
		return s, nil
	}
	added, err := m.length(end, at)
	if err != nil {
		return nil, err
	}
	room := length - added
	if room < 0 {
		return end[:offset(end, max(length, 0))], nil
	}
	if err := m.grow(len(s)+len(end), at); err != nil {
		return nil, err
	}
	return s[:offset(s, room)] + end, nil
}

func padStart(m *machine, at int, args []any) (any, error) {
	s, fill := textArg(args, 0, ""), textArg(args, 2, " ")
	length, err := wholeArg(args, 0, at, "the length")
	if err != nil {
		return nil, err
	}
	have, err := m.length(s, at)
	if err != nil || have >= length || fill == "" {
		return s, err
	}
	runes, err := m.length(fill, at)
	if err != nil {
		return nil, err
	}
	missing := length - have
	if missing > MaxBytes {
		return nil, m.grow(-1, at)
	}
	if err := m.grow((missing/runes+1)*len(fill)+len(s), at); err != nil {
		return nil, err
	}
	return strings.Repeat(fill, missing/runes) + fill[:offset(fill, missing%runes)] + s, nil
}

func repeat(m *machine, at int, args []any) (any, error) {
	s := textArg(args, 0, "")
	times, err := wholeArg(args, 0, at, "the number of times")
	if err != nil || times <= 0 || s == "" {
		return "", err
	}
	if times > MaxBytes || len(s) > MaxBytes {
		return nil, m.grow(-1, at)
	}
	if err := m.grow(len(s)*times, at); err != nil {
		return nil, err
	}
	return strings.Repeat(s, times), nil
}

func replace(m *machine, at int, args []any) (any, error) {
	s, old, now := textArg(args, 0, ""), textArg(args, 1, ""), textArg(args, 2, "")
	if old == "" {
		return s, nil
	}
	if err := m.scan(2*len(s), at); err != nil {
		return nil, err
	}
	n := strings.Count(s, old)
	if n == 0 {
		return s, nil
	}
	if len(now) > MaxBytes || n > MaxBytes {
		return nil, m.grow(-1, at)
	}
	if err := m.grow(len(s)+n*(len(now)-len(old)), at); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, now), nil
}

func split(m *machine, at int, args []any) (any, error) {
	s, separator := textArg(args, 0, ""), textArg(args, 1, "")
	if s == "" {
		return []any{}, nil
	}
	if err := m.scan(2*len(s), at); err != nil {
		return nil, err
	}
	parts := strings.Count(s, separator) + 1
	if separator == "" {
		parts = utf8.RuneCountInString(s)
	}
	if err := m.list(2*parts, at); err != nil { // elements and text headers
		return nil, err
	}
	out := make([]any, 0, parts)
	for part := range strings.SplitSeq(s, separator) {
		out = append(out, part)
	}
	return out, nil
}

func indexOf(m *machine, at int, args []any) (any, error) {
	s, part := textArg(args, 0, ""), textArg(args, 1, "")
	if err := m.scan(2*len(s)+len(part), at); err != nil {
		return nil, err
	}
	i := strings.Index(s, part)
	if i < 0 {
		return nil, nil
	}
	return utf8.RuneCountInString(s[:i]), nil
}
