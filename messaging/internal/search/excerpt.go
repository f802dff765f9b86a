package search

import (
	"strings"
	"unicode/utf8"
)

// Part is a piece of an excerpt.
type Part struct {
	Text  string `json:"text"`
	Match bool   `json:"match" doc:"Whether the search matches this part."`
}

// Characters of an excerpt before the first match, and of all of it.
const (
	excerptBefore = 60
	excerptLength = 240
)

// Excerpt returns the part of a text that has the first match, in pieces that are to be
// read one after the other; nil: the text lacks what is looked for. An ellipsis shows
// that the text goes on.
func (q Query) Excerpt(text string) []Part {
	found := q.spans(text)
	if len(found) == 0 {
		return nil
	}
	from, to := bounds(text, found[0])
	var parts []Part
	add := func(s string, match bool) {
		if s != "" {
			parts = append(parts, Part{s, match})
		}
	}
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(text) {
		after = "…"
	}
	at := from
	for _, s := range found {
		if s.start >= to {
			break
		}
		add(before+text[at:s.start], false)
		before, at = "", min(s.end, to)
		add(text[s.start:at], true)
	}
	add(before+text[at:to]+after, false)
	return parts
}

// bounds returns where the excerpt around a match begins and ends: between words, if
// there are some.
func bounds(text string, first span) (from, to int) {
	from = first.start
	for n := 0; n < excerptBefore && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from > 0 {
		if space := strings.IndexAny(text[from:first.start], " \n"); space >= 0 {
			from += space + 1
		}
	}
	to = from
	for n := 0; n < excerptLength && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to < len(text) {
		if space := strings.LastIndexAny(text[from:to], " \n"); from+space > first.end {
			to = from + space
		}
	}
	return from, to
}
