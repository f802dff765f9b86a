// Package pattern compiles regular expressions that users write (RE2) within
// bounds. RE2 matches in time that grows with the text and with the
// instructions of the pattern, and a short pattern can have millions:
// (?:.?){900} repeated fifty times makes each character of a text cost 90,000
// steps, and takes a hundred megabytes to compile.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MaxSize is how many instructions a pattern may have, with its repetitions
// written out.
const MaxSize = 1000

// maxSearched is how many bytes of a text a pattern is held against.
const maxSearched = 16 << 10

// Compile compiles a pattern and returns how many instructions it has. It
// returns the error of package regexp for what is no pattern, and another for
// one with more than [MaxSize] instructions.
func Compile(source string) (re *regexp.Regexp, size int, err error) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if size = len(program.Inst); size > MaxSize {
		return nil, 0, fmt.Errorf("it repeats too much: it needs %d instructions of the %d it may have", size, MaxSize)
	}
	re, err = regexp.Compile(source)
	return re, size, err
}

// Searched returns the part of a text that a pattern is held against: its first
// 16 KiB.
func Searched(text string) string { return text[:min(len(text), maxSearched)] }
