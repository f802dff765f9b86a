package values

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Patterns are what names must look like. Each is compiled when it is first used.
var Patterns = map[string]func() *regexp.Regexp{
	"node":     lazy(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`),
	"slug":     lazy(`^[a-z0-9][a-z0-9_-]{0,63}$`),
	"id":       lazy(`^[a-z][a-z0-9_]{0,31}$`),
	"variable": lazy(`^[a-z_][a-z0-9_]{0,63}$`),
	"path":     lazy(`^[a-z_][a-z0-9_]{0,63}(\.[A-Za-z_][A-Za-z0-9_-]{0,63}|\[[0-9]{1,3}\])*$`),
	"output":   lazy(`^[a-z][a-z0-9_]{0,31}(:[A-Za-z0-9_-]{1,64})?$`),
	"model":    lazy(`^[a-z0-9_-]+/[A-Za-z0-9][A-Za-z0-9._:/-]*$`),
	"locale":   lazy(`^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$`),
	"clock":    lazy(`^([01][0-9]|2[0-3]):[0-5][0-9]$`),
	"day":      lazy(`^(mon|tue|wed|thu|fri|sat|sun)$`),
	"code":     lazy(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$`),

	"credential": lazy(`^[A-Za-z0-9_-]{1,64}$`),
}

// lazy returns a pattern that is compiled when it is first used.
func lazy(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// PlainTextKinds are the kinds that a reference which lacks them sends as numbered text.
var PlainTextKinds = []string{"buttons", "list", "poll"}

// AnswerTypes are what answer holds, by what a question expects.
var AnswerTypes = map[string]expression.Type{
	"text": {Kind: expression.Text}, "integer": {Kind: expression.Number}, "number": {Kind: expression.Number}, "phone": {Kind: expression.Text}, "email": {Kind: expression.Text}, "url": {Kind: expression.Text},
	"date": {Kind: expression.Date | expression.Text}, "time": {Kind: expression.Text}, "datetime": {Kind: expression.Date | expression.Text}, "choice": {Kind: expression.Text}, "boolean": {Kind: expression.Bool},
	"location": {Kind: expression.Map}, "image": {Kind: expression.Map}, "file": {Kind: expression.Map},
}

// CutPath splits off the first part of a path.
func CutPath(path string) (first, rest string) {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// Below is the place of something in what is at a place.
func Below(at []any, parts ...any) []any { return append(at[:len(at):len(at)], parts...) }

// Count returns a number with its noun, as in "2 items".
func Count(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}

// Shorten keeps messages short whatever a document holds.
func Shorten(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
