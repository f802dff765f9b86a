package entity

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/text"
)

// Entry is a word of a dictionary with its synonyms.
type Entry struct {
	Value    string   `json:"value"`
	Synonyms []string `json:"synonyms,omitempty"`
}

// Limits of a dictionary.
const (
	MaxEntries = 10_000 // including synonyms
	MaxTerm    = 128    // bytes of a value or synonym
)

// WordList finds the words of a dictionary, in any case, with or without accents,
// and with typing mistakes: one in a term of five to eight letters, two in a longer
// one. It is safe for concurrent use.
type WordList struct {
	name  string
	exact map[string]string // folded term → value
	fuzzy map[int][]term    // by number of letters
	limit int               // most tokens of a term
}

type term struct {
	letters []rune
	mask    uint64 // set of its letters
	value   string
}

// NewDictionary builds a dictionary. Errors name the entry.
func NewDictionary(name string, entries []Entry) (*WordList, error) {
	d := &WordList{name: name, exact: map[string]string{}, fuzzy: map[int][]term{}}
	for i, e := range entries {
		for j, text := range append([]string{e.Value}, e.Synonyms...) {
			field := fmt.Sprintf("dictionary[%d].value", i)
			if j > 0 {
				field = fmt.Sprintf("dictionary[%d].synonyms[%d]", i, j-1)
			}
			if err := d.add(field, text, e.Value); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

func (d *WordList) add(field, text, value string) error {
	tokens := tokenize(text)
	if len(text) > MaxTerm || len(tokens) == 0 {
		return fmt.Errorf("%s must have 1 to %d bytes", field, MaxTerm)
	}
	key := joinTokens(tokens)
	if _, ok := d.exact[key]; ok {
		return nil // the first entry that has it
	}
	if len(d.exact) == MaxEntries {
		return fmt.Errorf("%s is one too many: the limit is %d, including synonyms", field, MaxEntries)
	}
	d.exact[key] = value
	d.limit = max(d.limit, len(tokens))
	if letters := []rune(key); allowed(len(letters)) > 0 {
		d.fuzzy[len(letters)] = append(d.fuzzy[len(letters)], term{letters, maskOf(letters), value})
	}
	return nil
}

func joinTokens(tokens []token) string {
	var out strings.Builder
	for i, t := range tokens {
		if i > 0 && t.gap {
			out.WriteByte(' ')
		}
		out.WriteString(t.text)
	}
	return out.String()
}

// allowed returns how many edits a term of that many letters tolerates.
func allowed(letters int) int {
	switch {
	case letters < 5:
		return 0
	case letters <= 8:
		return 1
	}
	return 2
}

func maskOf(letters []rune) uint64 {
	var m uint64
	for _, r := range letters {
		m |= 1 << (uint32(r) % 64)
	}
	return m
}

// The search for terms with typing mistakes takes time in proportion to the text
// and the dictionaries. One text may use this much; after that only exact terms are
// found.
const (
	maxEffort  = 32 << 20 // steps, of which looking at a term takes one
	cellEffort = 16       // steps of comparing two letters
)

// near returns the term with the fewest edits, the first of several. It subtracts
// its cost from effort.
func (d *WordList) near(said string, effort *int) (value string, away int) {
	letters := []rune(said)
	mask := maskOf(letters)
	best := allowed(len(letters)) + 1
	for n := len(letters) - 2; n <= len(letters)+2; n++ {
		*effort -= len(d.fuzzy[n])
		for _, t := range d.fuzzy[n] {
			if *effort < 0 {
				return value, best
			}
			limit := min(best-1, allowed(n))
			if limit == 0 || bits.OnesCount64(mask^t.mask) > 2*limit || max(n-len(letters), len(letters)-n) > limit {
				continue
			}
			*effort -= cellEffort * n * len(letters)
			if e := text.EditDistance(letters, t.letters); e <= limit {
				value, best = t.value, e
			}
		}
	}
	return value, best
}

// dictionaries finds the words of all dictionaries.
func (f *finder) dictionaries() []Match {
	var out []Match
	for _, d := range f.options.Dictionaries {
		effort := maxEffort
		for i := 0; i < len(f.tokens); {
			value, end, sure := f.termAt(d, i, &effort)
			if end == i {
				i++
				continue
			}
			m := f.match(Dictionary, value, f.tokens[i].start, f.tokens[end-1].end, sure)
			m.Name = d.name
			out = append(out, m)
			i = end
		}
	}
	return out
}

// termAt returns the longest term that begins at a token, exact or with typing
// mistakes.
func (f *finder) termAt(d *WordList, i int, effort *int) (value string, end int, sure float64) {
	keys := f.keysAt(i, d.limit)
	for n := len(keys) - 1; n >= 0; n-- {
		if v, ok := d.exact[keys[n]]; ok {
			return v, i + n + 1, 1
		}
	}
	if f.tokens[i].kind == symbol {
		return "", i, 0
	}
	for n := len(keys) - 1; n >= 0; n-- {
		if letters := utf8.RuneCountInString(keys[n]); allowed(letters) > 0 {
			if v, away := d.near(keys[n], effort); v != "" {
				return v, i + n + 1, 1 - 0.15*float64(away)
			}
		}
	}
	return "", i, 0
}

// keysAt returns the keys of the next token, of the next two, and so on.
func (f *finder) keysAt(i, limit int) []string {
	tokens := f.tokens[i:min(i+limit, len(f.tokens))]
	size := 0
	for n, t := range tokens {
		if size += 1 + len(t.text); size > 2*MaxTerm {
			tokens = tokens[:n]
			break
		}
	}
	whole := joinTokens(tokens)
	keys, size := make([]string, 0, len(tokens)), 0
	for n, t := range tokens {
		if n > 0 && t.gap {
			size++
		}
		if size += len(t.text); size > MaxTerm+2*utf8.UTFMax {
			break
		}
		keys = append(keys, whole[:size])
	}
	return keys
}
