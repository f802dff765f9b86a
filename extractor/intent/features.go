package intent

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxText is the number of bytes that are read of a text.
const maxText = 4096

// Lengths of the parts of words, in letters including the edges of the word.
const (
	shortestPiece = 3
	maxPiece      = 5
)

// features returns the hashes of a text's features and how often each occurs.
func features(text string) map[uint32]float32 {
	out := map[uint32]float32{}
	var last string
	for _, w := range words(text) {
		out[hash('w', w)]++
		if last != "" {
			out[hash('p', last+" "+w)]++
		}
		last = w
		pieces(w, out)
	}
	return out
}

// words returns the words of a text in lower case, without accents.
func words(text string) []string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	folded := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSymbol(r) })
}

// pieces adds the parts of a word, so that its other forms and misspellings are
// similar.
func pieces(w string, out map[uint32]float32) {
	letters := []rune("<" + w + ">")
	if len(letters) > 64 {
		letters = letters[:64]
	}
	for n := shortestPiece; n <= maxPiece; n++ {
		for i := 0; i+n <= len(letters); i++ {
			out[hash('c', string(letters[i:i+n]))]++
		}
	}
}

// hash is FNV-1a.
func hash(kind byte, s string) uint32 {
	h := (uint32(2166136261) ^ uint32(kind)) * 16777619
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
