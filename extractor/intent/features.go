package intent

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxText is how many bytes of a text are read.
const maxText = 4096

// Lengths of the pieces of words, in letters with the edges of the word.
const (
	shortestPiece = 3
	maxPiece      = 5
)

// features are the hashes of what a text has, each with how often.
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

// words are the words of a text: lower case, without accents.
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

// pieces adds the pieces of a word, so that other forms of it, and mistakes,
// are near.
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
