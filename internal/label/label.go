// Package label validates names and descriptions that people write.
package label

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns what is wrong with a text that must have from least to limit
// characters, such as "must not be empty", or "" if it is valid. A text of only
// spaces counts as empty.
func Check(text string, least, limit int) string {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "must be UTF-8 without zero bytes" // PostgreSQL cannot store others
	case least > 0 && strings.TrimSpace(text) == "":
		return "must not be empty"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("must have at most %d characters", limit)
	}
	return ""
}
