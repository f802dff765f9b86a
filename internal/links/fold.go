package links

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a normalized text: compatibility forms replaced, in lower case, without
// invisible characters.
type folded struct {
	text   string
	starts []int // for each byte of text its position in the original
	ends   []int
}

// fold normalizes a text. Programs differ in whether invisible characters join or
// split the text around them; splits chooses.
func fold(s string, splits bool) *folded {
	f := &folded{}
	var out []byte
	add := func(r rune, from, to int) {
		n := len(out)
		out = utf8.AppendRune(out, r)
		for range len(out) - n {
			f.starts, f.ends = append(f.starts, from), append(f.ends, to)
		}
	}
	var it norm.Iter
	it.InitString(norm.NFKC, s)
	for !it.Done() {
		from := it.Pos()
		segment := string(it.Next())
		to := it.Pos()
		for _, r := range segment {
			switch {
			case unseen(r) && splits:
				add(' ', from, to)
			case unseen(r):
			case r == '。':
				if len(out) > 0 && isASCII(rune(out[len(out)-1])) && followed(s[to:]) {
					r = '.'
				}
				add(r, from, to)
			case unicode.IsSpace(r):
				if r != '\n' && r != '\r' && r != '\t' {
					r = ' '
				}
				add(r, from, to)
			default:
				add(unicode.ToLower(r), from, to)
			}
		}
	}
	f.text = string(out)
	return f
}

// isASCII reports whether a dot of another script next to the character is a dot of
// an address. Elsewhere it ends a sentence.
func isASCII(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-'
}

// followed reports whether the next character satisfies isASCII.
func followed(s string) bool {
	var it norm.Iter
	it.InitString(norm.NFKC, s)
	for !it.Done() {
		for _, r := range string(it.Next()) {
			if !unseen(r) {
				return isASCII(r)
			}
		}
	}
	return false
}

// unseen reports whether a character is invisible.
func unseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// visible drops control characters, which no text needs.
func visible(r rune) rune {
	if unicode.IsControl(r) && !unicode.IsSpace(r) {
		return -1
	}
	return r
}
