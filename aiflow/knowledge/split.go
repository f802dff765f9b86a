package knowledge

import (
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/text"
)

// Sizes of passages in bytes, without their headings.
const (
	usualPassage = 1200
	maxPassage   = 2000
	overlap      = 200
	maxHeading   = 200
)

// maxPassages is the maximum number of passages of a file.
const maxPassages = 50_000

// split makes passages of sections. A passage begins with the end of the previous
// one of the same section, so that text across the split is found.
func split(sections []section) (out []string) {
	for _, s := range sections {
		heading := text.Truncate(s.heading, maxHeading)
		var b strings.Builder
		begin := func(with string) {
			b.Reset()
			if heading != "" {
				b.WriteString(heading + "\n")
			}
			b.WriteString(with)
		}
		begin("")
		empty := true
		for _, block := range pieces(s.blocks) {
			if !empty && b.Len()+len(block) > usualPassage+len(heading) {
				done := b.String()
				out = append(out, strings.TrimSpace(done))
				begin(tail(done, overlap))
			}
			if !empty {
				b.WriteString("\n")
			}
			b.WriteString(block)
			empty = false
		}
		if !empty {
			out = append(out, strings.TrimSpace(b.String()))
		}
	}
	return out
}

// pieces splits blocks that are too long, at the end of sentences, lines or words.
func pieces(blocks []string) (out []string) {
	for _, b := range blocks {
		for len(b) > maxPassage-overlap {
			at := usualPassage
			for at > 0 && !utf8.RuneStart(b[at]) {
				at--
			}
			for _, end := range []string{"\n", ". ", " "} {
				if i := strings.LastIndex(b[:at], end); i > at/2 {
					at = i + len(end)
					break
				}
			}
			out = append(out, strings.TrimSpace(b[:at]))
			b = b[at:]
		}
		if b = strings.TrimSpace(b); b != "" {
			out = append(out, b)
		}
	}
	return out
}

// tail returns the end of a text, from the beginning of a word.
func tail(s string, limit int) string {
	if len(s) <= limit {
		return ""
	}
	s = s[len(s)-limit:]
	if i := strings.IndexAny(s, " \n"); i >= 0 {
		return strings.TrimSpace(s[i:])
	}
	return ""
}
