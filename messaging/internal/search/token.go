package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// token is a word of a text.
type token struct {
	word       string // folded
	start, end int    // bytes of the text
}

// maxWord is how many characters of a word are compared, and maxFolded those that are
// kept of it until it is composed: none is composed of more than four.
const (
	maxWord   = 40
	maxFolded = 4 * maxWord
)

// apart are the scripts that do not put spaces between words: each character is a word.
var apart = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// letters are those that Unicode does not decompose, as people type them without
// accents.
var letters = strings.NewReplacer(
	"ł", "l", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "æ", "ae", "œ", "oe", "ı", "i", "ħ", "h", "ŧ", "t", "\u0640", "",
)

// fold returns the characters of words that r stands for, without case and accents.
func fold(r rune) string {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return string(r)
	}
	known, ok := folded.Load(r)
	if !ok {
		known, _ = folded.LoadOrStore(r, foldOther(r))
	}
	return known.(string)
}

// folded are the characters outside of ASCII that were folded.
var folded sync.Map

func foldOther(r rune) string {
	plain := norm.NFKD.String(cases.Fold().String(norm.NFKD.String(string(r))))
	return letters.Replace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) || !inWord(r):
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + digit(r)
		}
		return r
	}, plain))
}

// digit is the value of a decimal digit: those of a script follow each other.
func digit(r rune) rune {
	n := rune(0)
	for n < 9 && unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	return n
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// invisible characters belong to what is before them: accents, joiners, the colors of
// emoji.
func invisible(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || 0x1f3fb <= r && r <= 0x1f3ff)
}

// pictures are symbols that are words.
func picture(r rune) bool { return r >= 0x2190 && unicode.Is(unicode.So, r) }

// tokens returns the words of a text in their order.
func tokens(text string) []token {
	var all []token
	var folded []rune // of the last word
	open := false     // the last word may go on
	finish := func() {
		if n := len(all); n > 0 {
			all[n-1].word = cut(string(folded))
		}
		folded = folded[:0]
	}
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			open = false
			continue
		}
		if invisible(r) {
			if n := len(all); n > 0 && all[n-1].end == i {
				all[n-1].end = end
			}
			continue
		}
		single := r >= utf8.RuneSelf && (picture(r) || unicode.In(r, apart...))
		word := ""
		switch {
		case picture(r):
			word = string(r)
		case inWord(r):
			word = fold(r)
		default:
			open = false
			continue
		}
		switch {
		case word == "": // as the stretching character of Arabic
			if open {
				all[len(all)-1].end = end
			}
			continue
		case open && !single:
			all[len(all)-1].end = end
		default:
			finish()
			all = append(all, token{"", i, end})
		}
		for _, r := range word {
			if len(folded) < maxFolded {
				folded = append(folded, r)
			}
		}
		open = !single
	}
	finish()
	return all
}

// cut composes what fold has decomposed, such as syllables of Hangul, and returns what
// is compared of a word.
func cut(word string) string {
	word = norm.NFC.String(word)
	n := 0
	for i := range word {
		if n++; n > maxWord {
			return word[:i]
		}
	}
	return word
}

const (
	minNumber = 7  // digits of a phone number
	maxNumber = 20 // with a prefix and an extension
)

// numbers returns the numbers that are written in groups of digits, as phone numbers
// are, without what is between the groups: each whole, and then without its first groups.
func numbers(text string, all []token) []token {
	var out []token
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && isNumber(all[n].word) && (n == i || isBetween(text[all[n-1].end:all[n].start])) {
			n++
		}
		from, digits := n, 0
		for from > i && digits+len(all[from-1].word) <= maxNumber {
			from--
			digits += len(all[from].word)
		}
		for ; from < n-1 && digits >= minNumber; from++ {
			out = append(out, join(all[from:n]))
			digits -= len(all[from].word)
		}
		i = max(n, i+1)
	}
	return out
}

// join returns tokens as one.
func join(all []token) token {
	out := token{"", all[0].start, all[len(all)-1].end}
	for _, t := range all {
		out.word += t.word
	}
	return out
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// isBetween says whether a text may separate groups of digits of a number.
func isBetween(s string) bool {
	return len(s) <= 3 && strings.Trim(s, " -./()\u00a0") == ""
}
