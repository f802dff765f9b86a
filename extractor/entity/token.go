package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// kind is the kind of a token.
type kind uint8

const (
	symbol kind = iota // one character
	word               // letters and their marks
	digits             // 0 to 9
)

// token is a word, a run of digits or one other character. White space is not a
// token.
type token struct {
	start, end int
	kind       kind
	gap        bool   // white space, or nothing, precedes it
	text       string // lower case, without accents
}

// tokenize splits a text into tokens.
func tokenize(text string) []token {
	out := make([]token, 0, len(text)/4+1)
	gap := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			gap = true
			i += size
			continue
		}
		k := kindOf(r)
		end := i + size
		for k != symbol && end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if kindOf(r) != k && !(k == word && unicode.IsMark(r)) {
				break
			}
			end += size
		}
		out = append(out, token{start: i, end: end, kind: k, gap: gap, text: fold(text[i:end])})
		i, gap = end, false
	}
	return out
}

func kindOf(r rune) kind {
	switch {
	case r >= '0' && r <= '9':
		return digits
	case unicode.IsLetter(r):
		return word
	}
	return symbol
}

// fold returns a text in lower case and without accents, as people type it in haste.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.ToLower(strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				return r
			}, norm.NFD.String(s)))
		}
	}
	return strings.ToLower(s)
}
