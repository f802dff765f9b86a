package links

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text in the form of reading: of compatibility, in small letters,
// without what is not seen.
type folded struct {
	text   string
	starts []int // by the bytes of text: where in the original it comes from
	ends   []int
}

// fold reads a text. What is not seen joins what is around it, or splits it:
// programs differ.
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

// isASCII says whether a dot of another script beside the character is one of
// an address. Elsewhere it ends a sentence.
func isASCII(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-'
}

// followed says whether such a character comes next.
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

// unseen says whether a character takes no place.
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
