package entity

import (
	"slices"
	"strings"
)

// phrases maps words, or several words in a row, to their meaning.
type phrases map[string][]phrase // by the first token, longest first

type phrase struct {
	tokens []string
	value  string
}

// newPhrases reads a table from values to phrases, which | separates.
func newPhrases(table map[string]string) phrases {
	p := phrases{}
	for value, all := range table {
		for text := range strings.SplitSeq(all, "|") {
			p.add(text, value)
		}
	}
	for first := range p {
		slices.SortFunc(p[first], func(a, b phrase) int {
			if len(a.tokens) != len(b.tokens) {
				return len(b.tokens) - len(a.tokens)
			}
			return strings.Compare(a.value, b.value)
		})
	}
	return p
}

func (p phrases) add(text, value string) {
	var one phrase
	for _, t := range tokenize(text) {
		one.tokens = append(one.tokens, t.text)
	}
	one.value = value
	if len(one.tokens) > 0 {
		p[one.tokens[0]] = append(p[one.tokens[0]], one)
	}
}

// at returns the meaning of the longest phrase that begins at a token, and the
// token after it.
func (p phrases) at(tokens []token, i int) (value string, end int) {
	if i >= len(tokens) {
		return "", i
	}
	for _, one := range p[tokens[i].text] {
		if one.stands(tokens, i) {
			return one.value, i + len(one.tokens)
		}
	}
	return "", i
}

func (one phrase) stands(tokens []token, i int) bool {
	if i+len(one.tokens) > len(tokens) {
		return false
	}
	for j, text := range one.tokens {
		if tokens[i+j].text != text {
			return false
		}
	}
	return true
}
