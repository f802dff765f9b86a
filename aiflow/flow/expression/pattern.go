package expression

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	bounded "github.com/trunklinehq/trunkline/internal/pattern"
)

// pattern is a regular expression of RE2. Matching takes at most time in proportion
// to its instructions and the text.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions
}

func compilePattern(source string) (*pattern, error) {
	re, size, err := bounded.Compile(source)
	if err != nil {
		return nil, patternError(err)
	}
	return &pattern{re, size}, nil
}

func patternError(err error) error {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return fmt.Errorf("%s: %s", e.Code, e.Expr)
	}
	return err
}

// searchChunk is the amount of matching that costs a step: bytes times
// instructions.
const searchChunk = 64

// search charges the steps of matching a pattern against a text.
func (m *machine) search(p *pattern, s string, at int) error {
	if len(s) > MaxSteps*searchChunk { // avoids an overflow below
		return m.step(-1, at)
	}
	return m.step(1+len(s)*p.size/searchChunk, at)
}

// matches implements the operator matches.
func matches(m *machine, _ string, a, b any, at int) (any, error) {
	p, _ := b.(*pattern)
	s, ok := a.(string)
	if !ok {
		if a == nil {
			return false, m.step(1, at)
		}
		return nil, fail(CodeType, at, "matches a %s", kindOf(a)).hint("write string(…)")
	}
	if err := m.search(p, s, at); err != nil {
		return nil, err
	}
	return p.re.MatchString(s), nil
}

func capture(m *machine, at int, args []any) (any, error) {
	s := textArg(args, 0, "")
	p, _ := args[1].(*pattern)
	if err := m.search(p, s, at); err != nil {
		return nil, err
	}
	group := 0
	if len(args) > 2 && args[2] != nil {
		if name, ok := args[2].(string); ok {
			group = p.re.SubexpIndex(name)
		} else {
			group, _ = whole(args[2])
		}
	}
	if group < 0 || group > p.re.NumSubexp() {
		return nil, fail(CodeValue, at, "reads a group that the pattern does not have")
	}
	found := p.re.FindStringSubmatchIndex(s)
	if found == nil || found[2*group] < 0 {
		return nil, nil
	}
	return s[found[2*group]:found[2*group+1]], nil
}
