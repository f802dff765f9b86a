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

// option is an option that the contact can choose.
type option struct {
	id, title string
	synonyms  []string
}

// choose returns the option that a message means. It looks at the id of the button
// or row, then at the title, id or synonym, then at the number, then at the
// similarity of the words. If two options are equally similar it chooses none.
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

// likest returns the option whose title or synonym is most similar to the text.
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

// maxLike is the maximum length of texts whose similarity is computed.
const maxLike = 200

// likeness returns the similarity of two texts from 0 to 1: 1 minus the number of
// edits (insert, delete, replace, swap neighbours) relative to the characters of
// both. 1 means equal. At 0.5 or less the texts have nothing in common. A threshold
// of 0.85 tolerates one mistake in a word of four letters.
func likeness(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	both := len(x) + len(y)
	if both == 0 || both > 2*maxLike {
		return 0
	}
	return 1 - float64(text.EditDistance(x, y))/float64(both)
}

// fold normalizes a text for comparison: lower case, no accents, no punctuation
// around it, single spaces.
func fold(s string) string {
	if !plain(s) {
		s = cases.Fold().String(s)
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) && r < 0x0900 { // accents; above, such characters are letters of Indic scripts
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
