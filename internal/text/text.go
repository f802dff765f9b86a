// Package text has what several packages do with texts of others: it makes them
// fit for a database, shortens them, checks names, and finds similar ones.
package text

import (
	"strings"
	"unicode/utf8"
)

// Sanitize returns s as every database stores it: without zero bytes, which
// PostgreSQL refuses, and with U+FFFD in place of what is not UTF-8.
func Sanitize(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Truncate returns the longest beginning of s that has at most limit bytes and
// does not end within a character.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
