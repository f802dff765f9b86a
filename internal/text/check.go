package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check says what is wrong with a name or a description that must have from
// least to limit characters: "must not be empty", or "" when nothing is wrong.
// A text of spaces alone is empty.
func Check(s string, least, limit int) string {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return "must be UTF-8 without zero bytes" // which PostgreSQL does not keep
	case least > 0 && strings.TrimSpace(s) == "":
		return "must not be empty"
	case utf8.RuneCountInString(s) > limit:
		return fmt.Sprintf("must have at most %d characters", limit)
	}
	return ""
}
