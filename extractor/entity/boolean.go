package entity

import "strings"

// booleans finds yes and no.
func (f *finder) booleans() []Match {
	var out []Match
	said := f.said()
	for i := 0; i < len(f.tokens); {
		v, end := f.language.boolean.at(f.tokens, i)
		if end == i {
			i++
			continue
		}
		if v == "" || end == i+1 && len(f.tokens[i].text) == 1 && said > 1 { // neither yes nor no, or a single letter among words
			i = end
			continue
		}
		for end < len(f.tokens) && f.joined(end) && toned(f.tokens[end].text) {
			end++
		}
		out = append(out, f.match(Boolean, v == "yes", f.tokens[i].start, f.tokens[end-1].end, 0.5+0.5*min(1, float64(end-i)/float64(max(said, 1)))))
		i = end
	}
	return out
}

// toned reports whether a character only modifies the emoji before it.
func toned(c string) bool { return c >= "\U0001F3FB" && c <= "\U0001F3FF" || c == "\uFE0F" }

// said returns the number of tokens with a meaning. The fewer other words a text
// has, the surer is its yes.
func (f *finder) said() int {
	n := 0
	for _, t := range f.tokens {
		if t.kind != symbol || !strings.ContainsAny(t.text, ".,!?¡¿;:") {
			n++
		}
	}
	return n
}
