package entity

import (
	"fmt"
	"strings"
)

// rule is a pattern with its meaning. A pattern consists of words, [optional
// words], (one|or another) and {slots}.
type rule struct {
	pattern sequence
	is      string // the meaning, in terms of the type's recogniser
	whole   bool   // only if the text has nothing else
	order   string // mdy or dmy: the preferred order, where two rules match
}

// node is a part of a pattern. It calls next with each position after a match of
// the part, until next returns true.
type node interface {
	match(s *timeScan, i int, b bound, next func(int, bound) bool) bool
	first(add func(string)) (empty bool) // the tokens, or {slots}, that it may begin with
}

type (
	literal  string
	slot     string
	sequence []node
	choice   struct {
		of       []sequence
		optional bool
	}
)

func (l literal) match(s *timeScan, i int, b bound, next func(int, bound) bool) bool {
	return s.is(i, string(l)) && next(i+1, b)
}

func (l literal) first(add func(string)) bool { add(string(l)); return false }

func (l slot) match(s *timeScan, i int, b bound, next func(int, bound) bool) bool {
	end := s.fill(string(l), i, &b)
	return end > i && next(end, b)
}

func (l slot) first(add func(string)) bool { add("{" + string(l) + "}"); return false }

func (q sequence) match(s *timeScan, i int, b bound, next func(int, bound) bool) bool {
	if len(q) == 0 {
		return next(i, b)
	}
	return q[0].match(s, i, b, func(i int, b bound) bool { return q[1:].match(s, i, b, next) })
}

func (q sequence) first(add func(string)) bool {
	for _, n := range q {
		if !n.first(add) {
			return false
		}
	}
	return true
}

func (c choice) match(s *timeScan, i int, b bound, next func(int, bound) bool) bool {
	for _, q := range c.of {
		if q.match(s, i, b, next) {
			return true
		}
	}
	return c.optional && next(i, b)
}

func (c choice) first(add func(string)) bool {
	empty := c.optional
	for _, q := range c.of {
		empty = q.first(add) || empty
	}
	return empty
}

// pattern parses the text of a rule.
func pattern(text string) (sequence, error) {
	p := reader{rest: text}
	q, err := p.sequence("")
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q is closed but not open", p.rest)
	}
	return q, err
}

type reader struct{ rest string }

// sequence parses up to one of the given characters, which it leaves unread.
func (p *reader) sequence(until string) (sequence, error) {
	var q sequence
	for p.rest = strings.TrimLeft(p.rest, " "); p.rest != ""; p.rest = strings.TrimLeft(p.rest, " ") {
		c := p.rest[0]
		if strings.IndexByte(until, c) >= 0 {
			return q, nil
		}
		switch c {
		case '(', '[':
			n, err := p.choice(c)
			if err != nil {
				return nil, err
			}
			q = append(q, n)
		case '{':
			name, rest, ok := strings.Cut(p.rest[1:], "}")
			if !ok {
				return nil, fmt.Errorf("a slot has no end: %q", p.rest)
			}
			q, p.rest = append(q, slot(name)), rest
		case ')', ']', '|':
			return q, nil
		default:
			end := strings.IndexAny(p.rest, " ()[]{}|")
			if end < 0 {
				end = len(p.rest)
			}
			for _, t := range tokenize(p.rest[:end]) {
				q = append(q, literal(t.text))
			}
			p.rest = p.rest[end:]
		}
	}
	return q, nil
}

func (p *reader) choice(open byte) (node, error) {
	end := byte(')')
	c := choice{optional: open == '['}
	if c.optional {
		end = ']'
	}
	for {
		p.rest = p.rest[1:]
		q, err := p.sequence("|" + string(end))
		if err != nil {
			return nil, err
		}
		c.of = append(c.of, q)
		switch {
		case p.rest == "":
			return nil, fmt.Errorf("a %c is missing", end)
		case p.rest[0] == end:
			p.rest = p.rest[1:]
			return c, nil
		case p.rest[0] != '|':
			return nil, fmt.Errorf("%q closes what is not open", p.rest)
		}
	}
}

// grammar holds the rules of one type by the token with which they begin.
type grammar struct {
	words map[string][]*rule
	slots []slotRules
}

// slotRules are rules that begin with a slot.
type slotRules struct {
	slot  string
	rules []*rule
}

func newGrammar(rules []*rule) (*grammar, error) {
	g := &grammar{words: map[string][]*rule{}}
	at := map[string]int{}
	for _, r := range rules {
		seen := map[string]bool{}
		empty := r.pattern.first(func(f string) {
			if seen[f] {
				return
			}
			seen[f] = true
			name, isSlot := strings.CutPrefix(f, "{")
			if !isSlot {
				g.words[f] = append(g.words[f], r)
				return
			}
			if _, ok := at[name]; !ok {
				at[name] = len(g.slots)
				g.slots = append(g.slots, slotRules{slot: strings.TrimSuffix(name, "}")})
			}
			g.slots[at[name]].rules = append(g.slots[at[name]].rules, r)
		})
		if empty {
			return nil, fmt.Errorf("a rule fits nothing at all: %s", r.is)
		}
	}
	return g, nil
}

// at tries the rules that may begin at a token and returns the longest match. Of
// several it takes the one in the preferred order of dates, then the first. means
// returns the value of a rule that matches, and whether it has one.
func (g *grammar) at(s *timeScan, i int, means func(*rule, bound) (any, bool)) (value any, end int) {
	best, preferred := i, false
	if s.chained(i) {
		return nil, i
	}
	try := func(r *rule) {
		r.pattern.match(s, i, bound{}, func(e int, b bound) bool {
			if r.whole && (!s.whole || i > s.lead || e < len(s.tokens)) || !s.ended(e) {
				return false
			}
			liked := r.order != "" && r.order == s.order()
			if e < best || e == best && (e == i || preferred || !liked) {
				return false
			}
			v, ok := means(r, b)
			if ok {
				value, best, preferred = v, e, liked
			}
			return ok
		})
	}
	for _, r := range g.words[s.tokens[i].text] {
		try(r)
	}
	if s.tokens[i].kind != digits && !s.language.known[s.tokens[i].text] {
		return value, best
	}
	for _, group := range g.slots {
		var b bound
		if s.fill(group.slot, i, &b) == i {
			continue
		}
		for _, r := range group.rules {
			try(r)
		}
	}
	return value, best
}
