package mock

import (
	"strings"
	"unicode"
)

// filler are words without meaning for the choice of an answer.
var filler = set("the and you your for with what when where who how can could would please have has this that there from about " +
	"are was were will does did not but all any its his her our their tell give get want need know some into than then only")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// wordsOf returns the meaningful words of a text or a name, without common endings.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(split(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		w = strings.ToLower(w)
		if len([]rune(w)) < 3 || filler[w] {
			continue
		}
		out[stem(w)] = true
	}
	return out
}

// split inserts spaces into camelCase.
func split(text string) string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

func stem(w string) string {
	for _, end := range []string{"ing", "ies", "es", "ed", "s", "y", "e"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 {
			return s
		}
	}
	return w
}

func common(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// sentences returns the sentences and lines of a text.
func sentences(text string) (out []string) {
	for line := range strings.Lines(text) {
		begin := 0
		for i, r := range line {
			if end := i + 1; strings.ContainsRune(".!?", r) && (end == len(line) || line[end] == ' ' || line[end] == '\n') {
				out, begin = append(out, strings.TrimSpace(line[begin:end])), end
			}
		}
		if rest := strings.TrimSpace(line[begin:]); rest != "" {
			out = append(out, rest)
		}
	}
	return out
}
