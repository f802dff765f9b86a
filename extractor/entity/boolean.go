package entity

import "strings"

// booleans finds yes and no.
func (s *scan) booleans() []Match {
	var out []Match
	for i := 0; i < len(s.tokens); {
		v, end := s.language.boolean.at(s, i)
		if end == i {
			i++
			continue
		}
		for end < len(s.tokens) && s.joined(end) && toned(s.tokens[end].text) {
			end++
		}
		out = append(out, s.match(Boolean, v == "yes", s.tokens[i].start, s.tokens[end-1].end, s.shareOf(i, end)))
		i = end
	}
	return out
}

// toned says whether a character only colours the emoji before it.
func toned(c string) bool { return c >= "\U0001F3FB" && c <= "\U0001F3FF" || c == "\uFE0F" }

// shareOf is how sure a word is by how much else is said: 1 alone.
func (s *scan) shareOf(i, end int) float64 {
	said := 0
	for _, t := range s.tokens {
		if t.kind != symbol || !strings.ContainsAny(t.text, ".,!?¡¿;:") {
			said++
		}
	}
	return 0.5 + 0.5*min(1, float64(end-i)/float64(max(said, 1)))
}
