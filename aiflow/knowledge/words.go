package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/trunklinehq/trunkline/internal/text"
)

// maxWord is the maximum size of an indexed word, in bytes.
const maxWord = 64

// words returns the words of s in normalized form: lower case, without accents
// and common endings. Text in scripts without spaces yields pairs of characters.
func words(s string) (out []string) {
	var b strings.Builder
	var last rune // previous character of a script without spaces
	flush := func() {
		if b.Len() > 0 {
			out = append(out, text.Truncate(stem(b.String()), maxWord))
			b.Reset()
		}
		last = 0
	}
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
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

// unspaced reports whether a character belongs to a script without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// endings are removed from words, so that "rooms" finds "room" and "Zimmern" finds
// "Zimmer". This is a rough stemming: it only has to treat both sides alike.
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
