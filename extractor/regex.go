package extractor

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

// Bounds of a [Regex].
const (
	MaxPattern      = 1000 // bytes of the pattern
	maxSize         = 1000 // instructions of the pattern, in which repetitions are written out
	maxRegexMatches = 100  // places that it fits in one text
	maxTyped        = 256  // bytes of a group that is not a string
)

// maxRegexSteps bounds the time that a text takes, whatever the text and the
// pattern: each place may cost as many steps as the text has bytes, times the
// size of the pattern. Of long texts fewer places are found.
const maxRegexSteps = 4 << 20

// wholeMatch is the name of what a pattern without named groups finds.
const wholeMatch = "match"

// RegexConfig says what a [Regex] looks for.
type RegexConfig struct {
	Pattern string            `json:"pattern"`          // RE2, at most [MaxPattern] bytes
	Flags   string            `json:"flags,omitempty"`  // of i, m, s and U, as RE2 has them
	Groups  map[string]string `json:"groups,omitempty"` // by name: string (default), number, date, phone, email
	Tests   []Test            `json:"tests,omitempty"`
}

// Regex finds values by a regular expression: what its named groups stand
// for, or, without any, all that it fits, under the name match. It may be used
// by many at once.
type Regex struct {
	pattern *regexp.Regexp
	size    int      // of the pattern, in instructions
	names   []string // of the groups; "" has no name
	types   []string
	tests   []Test
}

// NewRegex reads a pattern. Errors name the field.
func NewRegex(c RegexConfig) (*Regex, error) {
	if c.Pattern == "" || len(c.Pattern) > MaxPattern {
		return nil, fmt.Errorf("pattern must have 1 to %d bytes", MaxPattern)
	}
	flags, err := flagsOf(c.Flags)
	if err != nil {
		return nil, err
	}
	// Compiled alone first: what closes our own group must not compile.
	if _, err := sizeOf(c.Pattern); err != nil {
		return nil, err
	}
	size, err := sizeOf(flags + c.Pattern)
	if err != nil {
		return nil, err
	}
	p, err := regexp.Compile(flags + c.Pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	r := &Regex{pattern: p, size: size, names: p.SubexpNames(), tests: slices.Clone(c.Tests)}
	r.types = make([]string, len(r.names))
	for i, name := range r.names {
		r.types[i] = "string"
		if t := c.Groups[name]; name != "" && t != "" {
			r.types[i] = t
		}
	}
	return r, r.check(c.Groups)
}

// sizeOf is how many instructions a pattern has.
func sizeOf(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("pattern: %w", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, fmt.Errorf("pattern: %w", err)
	}
	if len(program.Inst) > maxSize {
		return 0, fmt.Errorf("pattern is too large when its repetitions are written out: %d steps, at most %d", len(program.Inst), maxSize)
	}
	return len(program.Inst), nil
}

// flagsOf is how RE2 writes flags.
func flagsOf(flags string) (string, error) {
	for i, f := range flags {
		if !strings.ContainsRune("imsU", f) || strings.IndexRune(flags, f) != i {
			return "", fmt.Errorf("flags may be i, m, s and U, each once, not %q", flags)
		}
	}
	if flags == "" {
		return "", nil
	}
	return "(?" + flags + ")", nil
}

// regexTypes are the types that a group can have.
var regexTypes = []string{"string", entity.Number, entity.Date, entity.Phone, entity.Email}

func (r *Regex) check(groups map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if name == "" || !slices.Contains(r.names, name) {
			return fmt.Errorf("groups.%s: the pattern has no group of that name", name)
		}
		if !slices.Contains(regexTypes, groups[name]) {
			return fmt.Errorf("groups.%s must be one of %s", name, strings.Join(regexTypes, ", "))
		}
	}
	return nil
}

// Find finds the values of the places that the pattern fits, in order: of 100 at
// most, and of fewer where the text is long and the pattern large. A group
// that is empty there, or whose text is not of its type, has none. The options
// say how numbers, dates and phone numbers are meant.
func (r *Regex) Find(text string, o *entity.Options) []entity.Match {
	var out []entity.Match
	limit := min(max(maxRegexSteps/(r.size*max(len(text), 1)), 1), maxRegexMatches)
	for _, at := range r.pattern.FindAllStringSubmatchIndex(text, limit) {
		named := false
		for i, name := range r.names {
			if name == "" {
				continue
			}
			named = true
			if m, ok := r.group(text, i, at[2*i], at[2*i+1], o); ok {
				out = append(out, m)
			}
		}
		if !named && at[1] > at[0] {
			said := text[at[0]:at[1]]
			out = append(out, entity.Match{Name: wholeMatch, Type: "string", Value: said, Text: said, Start: at[0], End: at[1], Confidence: 1})
		}
	}
	return out
}

// group is the value of one group.
func (r *Regex) group(text string, i, start, end int, o *entity.Options) (entity.Match, bool) {
	if start < 0 || start == end {
		return entity.Match{}, false
	}
	said := text[start:end]
	m := entity.Match{Name: r.names[i], Type: r.types[i], Value: said, Text: said, Start: start, End: end, Confidence: 1}
	if m.Type == "string" {
		return m, true
	}
	if len(said) > maxTyped {
		return m, false
	}
	var ok bool
	m.Value, ok = entity.Parse(m.Type, said, o)
	return m, ok
}

// Evaluate runs the tests that the extractor was made with.
func (r *Regex) Evaluate() (Report, error) { return Evaluate(r.tests, r.Find) }
