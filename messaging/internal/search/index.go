package search

import (
	"iter"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// The index has each word of a message behind the number of its window, a span of time
// of 12.7 days, and so a search looks at one window after the other, from the newest to
// the oldest. Without a window it has the shorter spans of time of the message, so that
// a word that many messages have is looked for in a few minutes first.
const windowBits = 40 // of a time in microseconds

// spanBits are those of the shorter spans: 4.5 and 36 minutes, 4.8 hours, 1.6 days.
var spanBits = []int{28, 31, 34, 37}

// maxWords is how many different words of a message can be found.
const maxWords = 2000

// Words returns what the index has of a message, with a space before and behind each
// word. "" for a message without words.
func Words(text string, ref provider.ReferenceID, chat, atUS int64) string {
	all := tokens(text)
	if len(all) == 0 {
		return ""
	}
	window := strconv.FormatInt(atUS>>windowBits, 10) + "."
	var b strings.Builder
	b.WriteString(" " + window + "@" + strconv.FormatInt(int64(ref), 10) + " " + window + "#" + strconv.FormatInt(chat, 10))
	for _, bits := range spanBits {
		b.WriteString(" " + spanWord(bits, atUS>>bits))
	}
	seen := map[string]bool{}
	for _, t := range append(all, numbers(text, all)...) {
		if !seen[t.word] && len(seen) < maxWords {
			seen[t.word] = true
			b.WriteString(" " + window + t.word)
		}
	}
	b.WriteByte(' ')
	return b.String()
}

func spanWord(bits int, number int64) string {
	return "~" + strconv.Itoa(bits) + "." + strconv.FormatInt(number, 10)
}

// Scope is where a search looks.
type Scope struct {
	References []int64
	Chat       int64 // 0: in all chats of the references
}

// Match is a condition of a full-text index: windows, or some spans of one.
type Match struct {
	windows []int64
	spans   []string // nil: all of the windows
}

// maxWindows is how many windows are looked at at once.
const maxWindows = 16

// Windows yields conditions that together are met by every message from one time to an
// earlier one, the latest messages first. Each is met by more windows than the last.
func Windows(latestUS, earliestUS int64) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		next, last := latestUS>>windowBits, earliestUS>>windowBits
		for n := int64(1); next >= last; n = min(2*n, maxWindows) {
			var m Match
			for range min(n, next-last+1) {
				m.windows = append(m.windows, next)
				next--
			}
			if !yield(m) {
				return
			}
		}
	}
}

// Narrowed yields conditions that together are met by the messages of m until a time,
// the latest first. The spans of time become longer: each is about eight times the last.
func (m Match) Narrowed(latestUS int64) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		for _, window := range m.windows {
			at := min(latestUS, (window+1)<<windowBits-1) // the latest time that was not looked at
			for i, bits := range spanBits {
				parent := windowBits
				if i+1 < len(spanBits) {
					parent = spanBits[i+1]
				}
				if i > 0 && (at+1)>>parent<<parent == at+1 {
					continue // the span around it was looked at
				}
				from, last := at>>parent<<parent, at>>bits
				one := Match{windows: []int64{window}}
				for n := from >> bits; n <= last; n++ {
					one.spans = append(one.spans, spanWord(bits, n))
				}
				if !yield(one) {
					return
				}
				at = from - 1
			}
		}
	}
}

// grammar is how a full-text index writes conditions.
type grammar struct{ and, or, before, after, prefix string }

var (
	sqlite   = grammar{" AND ", " OR ", `"`, `"`, " *"}
	postgres = grammar{" & ", " | ", `'`, `'`, ":*"}
)

// SQLite is the condition in the language of FTS5. It does not say which references,
// which costs more than to leave others out later: SQLite has one server's messages.
func (m Match) SQLite(q Query, s Scope) string { return m.text(sqlite, q, Scope{Chat: s.Chat}) }

// Postgres is the condition as a tsquery.
func (m Match) Postgres(q Query, s Scope) string { return m.text(postgres, q, s) }

func (m Match) text(g grammar, q Query, s Scope) string {
	var windows []string
	for _, n := range m.windows {
		window := strconv.FormatInt(n, 10) + "."
		var all []string
		for _, c := range q.clauses {
			all = append(all, c.text(g, window))
		}
		if s.Chat != 0 || len(s.References) > 0 {
			all = append(all, s.text(g, window))
		}
		windows = append(windows, strings.Join(all, g.and))
	}
	text := "((" + strings.Join(windows, ")"+g.or+"(") + "))"
	if m.spans != nil {
		text += g.and + g.any(m.spans)
	}
	return text
}

func (s Scope) text(g grammar, window string) string {
	if s.Chat != 0 {
		return g.word(window + "#" + strconv.FormatInt(s.Chat, 10))
	}
	all := make([]string, len(s.References))
	for i, ref := range s.References {
		all[i] = window + "@" + strconv.FormatInt(ref, 10)
	}
	return g.any(all)
}

func (c clause) text(g grammar, window string) string {
	any := make([]string, len(c))
	for i, p := range c {
		all := make([]string, len(p.words))
		for n, w := range p.words {
			all[n] = g.word(window + w)
		}
		if p.prefix {
			all[len(all)-1] += g.prefix
		}
		any[i] = "(" + strings.Join(all, g.and) + ")"
	}
	return "(" + strings.Join(any, g.or) + ")"
}

func (g grammar) any(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = g.word(w)
	}
	return "(" + strings.Join(quoted, g.or) + ")"
}

// word quotes a word. Words have letters, digits and symbols only.
func (g grammar) word(w string) string { return g.before + w + g.after }
