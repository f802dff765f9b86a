package agent

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

// maxShown is how many bytes of a result the model is shown.
const maxShown = 8 << 10

// truncate is a text of at most so many bytes: its beginning and its end, and
// between them how much was left out.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	marker := fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-limit)
	room := max(limit-len(marker)-2, 0)
	head, tail := room*3/4, len(s)-room/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + marker + s[tail:]
}

// endOfData is what would end the data that a text is in.
var endOfData = regexp.MustCompile(`(?i)<\s*/?\s*data\b`)

// noName is what a name between quotes must not hold.
var noName = regexp.MustCompile(`[^\pL\pN ._/:@-]+`)

// asData is what a tool returned as the model is shown it: a stranger may
// have written it.
func asData(origin, content string) string {
	return `<data from="` + noName.ReplaceAllString(origin, "_") + `">` + "\n" + endOfData.ReplaceAllString(truncate(content, maxShown), "[data]") + "\n</data>"
}
