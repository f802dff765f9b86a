// Package label checks the names and descriptions that people give things.
package label

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check says what is wrong with a text that must have from least to most
// characters, spaces alone counting as none: "must not be empty", or "" when
// nothing is.
func Check(text string, least, limit int) string {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "must be UTF-8 without zero bytes" // which PostgreSQL does not keep
	case least > 0 && strings.TrimSpace(text) == "":
		return "must not be empty"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("must have at most %d characters", limit)
	}
	return ""
}
