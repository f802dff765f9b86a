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

// Limits of a [Regex].
const (
	MaxPattern      = 1000 // bytes of the pattern
	maxSize         = 1000 // instructions of the compiled pattern, with repetitions expanded
	maxRegexMatches = 100  // matches of the pattern in one text
	maxTyped        = 256  // bytes of a group whose type is not string
)

// maxRegexSteps bounds the time that a match may take: the number of matches times
// the bytes of the text times the size of the pattern. Long texts therefore yield
// fewer matches than maxRegexMatches.
const maxRegexSteps = 4 << 20

// wholeMatch is the name of the value of a pattern without named groups.
const wholeMatch = "match"

// RegexConfig configures a [Regex].
type RegexConfig struct {
	Pattern string            `json:"pattern"`          // RE2, at most [MaxPattern] bytes
	Flags   string            `json:"flags,omitempty"`  // of i, m, s and U, as in RE2
	Groups  map[string]string `json:"groups,omitempty"` // by name: string (default), number, date, phone, email
	Tests   []Test            `json:"tests,omitempty"`
}

// Regex finds values by a regular expression. It finds the named groups, or, if
// there are none, the whole match under the name match. It is safe for concurrent
// use.
type Regex struct {
	pattern *regexp.Regexp
	size    int      // of the pattern, in instructions
	names   []string // of the groups; "" is an unnamed group
	types   []string
	tests   []Test
}

// NewRegex compiles a pattern. Errors name the field.
func NewRegex(c RegexConfig) (*Regex, error) {
	if c.Pattern == "" || len(c.Pattern) > MaxPattern {
		return nil, fmt.Errorf("pattern must have 1 to %d bytes", MaxPattern)
	}
	flags, err := flagsOf(c.Flags)
	if err != nil {
		return nil, err
	}
	// Compile the pattern alone first: it must not close the group that is put
	// around it below.
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

// sizeOf returns the number of instructions of a compiled pattern.
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

// flagsOf returns flags in the syntax of RE2.
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

// Find finds the values of each match, in order: at most 100 matches, and fewer
// where the text is long and the pattern large. A group that is empty, or whose
// text is not of its type, yields no value. The options determine how numbers,
// dates and phone numbers are read.
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

// group returns the value of one group.
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

// Evaluate runs the tests of the extractor's configuration.
func (r *Regex) Evaluate() (Report, error) { return Evaluate(r.tests, r.Find) }
