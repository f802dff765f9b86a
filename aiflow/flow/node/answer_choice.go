package node

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/text"
)

// option is something that can be chosen.
type option struct {
	id, title string
	synonyms  []string
}

// choose finds the option that a message means: by the id of the button or
// row that was pressed, then by its title, its id or a synonym, then by its
// number, then by the likeness of the words. Of two that are equally like
// none is meant.
func choose(message map[string]any, options []option, least float64) (string, bool) {
	if reply := values.ObjectOf(message["reply"]); reply != nil {
		for _, o := range options {
			if values.TextOf(reply["id"]) == o.id {
				return o.id, true
			}
		}
	}
	said := fold(words(message))
	if said == "" {
		return "", false
	}
	for _, o := range options {
		for _, name := range o.names() {
			if fold(name) == said {
				return o.id, true
			}
		}
	}
	if n, err := strconv.Atoi(said); err == nil {
		if n >= 1 && n <= len(options) {
			return options[n-1].id, true
		}
		return "", false
	}
	return likest(said, options, least)
}

func (o option) names() []string {
	return append([]string{o.title, o.id}, o.synonyms...)
}

// likest is the option whose title or synonym is most like what was said.
func likest(said string, options []option, least float64) (string, bool) {
	best, id, tie := 0.0, "", false
	for _, o := range options {
		top := 0.0
		for _, name := range o.names() {
			top = max(top, likeness(said, fold(name)))
		}
		switch {
		case top > best:
			best, id, tie = top, o.id, false
		case top == best:
			tie = true
		}
	}
	return id, best >= least && !tie
}

// maxLike is the length up to which texts are compared by likeness.
const maxLike = 200

// likeness is 1 less the edits that make one text the other (a character put
// in, left out, replaced, or two neighbours swapped), as a part of the
// characters of both: 1 is equal, 0.5 or less has nothing in common, and at
// 0.85 one slip is forgiven in a word of four letters.
func likeness(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	both := len(x) + len(y)
	if both == 0 || both > 2*maxLike {
		return 0
	}
	return 1 - float64(text.EditDistance(x, y))/float64(both)
}

// fold makes texts alike that people take for the same: without case,
// accents, punctuation around, and with single spaces.
func fold(s string) string {
	if !plain(s) {
		s = cases.Fold().String(s)
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) && r < 0x0900 { // accents; signs of Indic scripts are letters
				return -1
			}
			return r
		}, norm.NFKD.String(s))
		s = norm.NFC.String(s)
	} else {
		s = strings.ToLower(s)
	}
	return strings.Trim(strings.Join(strings.Fields(s), " "), " .,;:!?¿¡)('\"")
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
