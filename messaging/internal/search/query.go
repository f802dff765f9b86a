package search

import (
	"slices"
	"strings"
	"unicode"
)

// Query is what is looked for: all of its clauses.
type Query struct{ clauses []clause }

// clause is found where one of its alternatives is.
type clause []phrase

// phrase is words that follow each other.
type phrase struct {
	words  []string
	prefix bool // the last may go on
}

// maxClauses is how many words and phrases of a query count.
const maxClauses = 32

// Parse reads a query: words, and phrases between quotation marks. Words that are
// written together, as "example.com", are a phrase. The last word may be the beginning
// of one. Every text is a query; one without words finds nothing.
func Parse(text string) Query {
	var q Query
	rest := text
	for rest != "" && len(q.clauses) < maxClauses {
		part, quoted := "", false
		part, rest, quoted = next(rest)
		last := strings.TrimSpace(rest) == ""
		if !quoted {
			if number, after := numberAt(part + rest); number != nil {
				number.finish(strings.TrimSpace(after) == "")
				q.clauses = append(q.clauses, number)
				rest = after
				continue
			}
		}
		var words []string
		for _, t := range tokens(part) {
			words = append(words, t.word)
		}
		if len(words) > 0 {
			q.clauses = append(q.clauses, clause{{words, last && !quoted}})
		}
	}
	return q
}

const quotes = "\"“”„«»"

// next returns the first part of a query: what is between two quotation marks, or what
// comes before a space. A quotation mark without another is none.
func next(text string) (part, rest string, quoted bool) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexAny(text, quotes); i == 0 {
		opened := strings.TrimLeft(text, quotes)
		if part, rest, quoted = strings.Cut(opened, closing(opened)); quoted {
			return part, rest, true
		}
		text = opened
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(quotes, r) })
	if end < 0 {
		return text, "", false
	}
	return text[:end], text[end:], false
}

// closing is the first quotation mark of a text, or one that it does not have.
func closing(text string) string {
	for _, r := range text {
		if strings.ContainsRune(quotes, r) {
			return string(r)
		}
	}
	return `"`
}

// numberAt returns the number in groups of digits with which a text begins, as it may
// be written in a message: in the same groups, or in one.
func numberAt(text string) (number clause, rest string) {
	if end := strings.IndexAny(text, quotes); end >= 0 {
		text, rest = text[:end], text[end:]
	}
	all := tokens(text)
	found := numbers(text, all)
	if len(found) == 0 || found[0].start != all[0].start {
		return nil, ""
	}
	var groups []string
	for _, t := range all {
		if t.end <= found[0].end {
			groups = append(groups, t.word)
		}
	}
	return clause{{words: groups}, {words: []string{found[0].word}}}, text[found[0].end:] + rest
}

// finish says whether the clause is the last.
func (c clause) finish(last bool) {
	for i := range c {
		c[i].prefix = last
	}
}

// Empty says whether the query has no words.
func (q Query) Empty() bool { return len(q.clauses) == 0 }

// span is a part of a text.
type span struct{ start, end int }

// spans returns where a text has what is looked for: nil if it lacks some of it.
func (q Query) spans(text string) []span {
	all := tokens(text)
	joined := numbers(text, all)
	var out []span
	for _, c := range q.clauses {
		var found []span
		for _, p := range c {
			found = append(found, p.spans(all)...)
			if len(p.words) == 1 {
				found = append(found, p.spans(joined)...)
			}
		}
		if len(found) == 0 {
			return nil
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b span) int { return a.start - b.start })
	return merged(out)
}

// spans returns where the words of p follow each other.
func (p phrase) spans(all []token) []span {
	var out []span
	last := len(p.words) - 1
	for i := 0; i+last < len(all); i++ {
		at := all[i : i+last+1]
		end := at[last].word
		if !(end == p.words[last] || p.prefix && strings.HasPrefix(end, p.words[last])) {
			continue
		}
		if slices.EqualFunc(at[:last], p.words[:last], func(t token, w string) bool { return t.word == w }) {
			out = append(out, span{at[0].start, at[last].end})
		}
	}
	return out
}

// merged joins spans that overlap; they are sorted.
func merged(all []span) []span {
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}
