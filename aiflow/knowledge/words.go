package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the most bytes of a word that is looked for.
const maxWord = 64

// words are the words of a text in the form in which they are compared: lower
// case, without accents and common endings. Scripts without spaces give pairs
// of characters.
func words(text string) (out []string) {
	var b strings.Builder
	var last rune // of a script without spaces
	flush := func() {
		if b.Len() > 0 {
			out = append(out, truncate(stem(b.String()), maxWord))
			b.Reset()
		}
		last = 0
	}
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unspaced(r):
			previous := last
			if previous == 0 {
				flush()
			} else {
				out = append(out, string([]rune{previous, r}))
			}
			last = r
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if last != 0 {
				flush()
			}
			b.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return out
}

// unspaced says whether a character belongs to a script without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// endings are taken off words, so that "rooms" finds "room" and "Zimmern"
// finds "Zimmer". It is rough: it only has to do the same to both.
var endings = []string{"ungen", "ung", "ings", "ing", "ies", "ern", "ers", "es", "en", "er", "ed", "em", "s", "e", "n", "y"}

func stem(w string) string {
	if utf8.RuneCountInString(w) < 5 {
		return strings.TrimSuffix(w, "s")
	}
	for again := true; again; {
		again = false
		for _, end := range endings {
			if rest, ok := strings.CutSuffix(w, end); ok && utf8.RuneCountInString(rest) >= 4 {
				w, again = rest, true
				break
			}
		}
	}
	return w
}
