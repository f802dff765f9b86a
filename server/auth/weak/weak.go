// Package weak says whether a new password is one that an attacker tries first:
// one of the 10,000 commonest that are long enough to be accepted, or one that
// says no more than the e-mail or the name of its user. It keeps nothing, and
// knows nothing of how passwords are stored or proved.
//
//	if why := weak.Reason("password123", "ana@example.org", "Ana"); why != "" {
//		return errors.New("password " + why)
//	}
package weak

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // of the list
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// common is the list, sorted: in lower case, one a line. NOTICE says where it
// comes from.
//
//go:embed common.txt.gz
var common []byte

const (
	minPiece = 3 // characters of a name that are looked for
	maxRest  = 4 // characters beside the user's own that make no password, as a year
)

// Reason says why a password is too easy to guess, or "" when it is not. about
// are the e-mail and the name of its user.
func Reason(password string, about ...string) string {
	plain := strings.ToLower(strings.TrimSpace(password))
	if _, found := slices.BinarySearch(list(), plain); found {
		return "is one of the most common passwords"
	}
	if saysOnly(plain, about) {
		return "must not consist of the e-mail or the name"
	}
	return ""
}

// list unpacks the list once, when the first password is checked.
var list = sync.OnceValue(func() []string {
	r, err := gzip.NewReader(bytes.NewReader(common))
	if err != nil {
		panic("weak: the list is damaged: " + err.Error())
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("weak: the list is damaged: " + err.Error())
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
})

// saysOnly reports whether nearly nothing is left of a password without what is
// known of its user.
func saysOnly(password string, about []string) bool {
	rest := letters(password)
	whole := rest
	for _, p := range pieces(about) {
		rest = strings.ReplaceAll(rest, p, "")
	}
	return rest != whole && utf8.RuneCountInString(rest) <= maxRest
}

// pieces are the e-mail, what is before and after its @, and the words of
// the name, the longest first.
func pieces(about []string) []string {
	var out []string
	for _, a := range about {
		a = strings.ToLower(a)
		local, domain, _ := strings.Cut(a, "@")
		words := strings.FieldsFunc(a, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, p := range append([]string{a, local, domain}, words...) {
			if p = letters(p); utf8.RuneCountInString(p) >= minPiece {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// letters are the letters and digits of s.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
