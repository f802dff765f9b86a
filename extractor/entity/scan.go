package entity

import (
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/text"
)

// scan is a text with its tokens, language and region. Every reader of values
// embeds it.
type scan struct {
	text     string
	options  Options
	language *language
	region   string
	now      time.Time
	tokens   []token
	whole    bool // the text is one value
	lead     int  // if whole: number of tokens that only introduce the value
}

func newScan(sentence string, o *Options) *scan {
	s := &scan{text: text.Truncate(sentence, MaxText)}
	if o != nil {
		s.options = *o
	}
	s.language, s.region = languageOf(s.options.Locale)
	if s.options.Region != "" {
		s.region = strings.ToUpper(s.options.Region)
	}
	s.now = s.options.Now
	if s.now.IsZero() {
		s.now = time.Now().UTC()
	}
	if s.tokens = tokenize(s.text); len(s.tokens) > maxTokens {
		s.text, s.tokens = s.text[:s.tokens[maxTokens].start], s.tokens[:maxTokens]
	}
	return s
}

// match returns a value between two bytes of the text.
func (s *scan) match(typ string, value any, start, end int, confidence float64) Match {
	return Match{Name: typ, Type: typ, Value: value, Text: s.text[start:end], Start: start, End: end, Confidence: confidence}
}

// is reports whether a token is that word or character.
func (s *scan) is(i int, text string) bool {
	return i < len(s.tokens) && s.tokens[i].text == text
}

// joined reports whether no white space precedes a token.
func (s *scan) joined(i int) bool {
	return i < len(s.tokens) && !s.tokens[i].gap
}

// joinedToWord reports whether a word or figures follow without white space.
func (s *scan) joinedToWord(i int) bool { return s.joined(i) && s.tokens[i].kind != symbol }

// hyphened reports whether a hyphen ties two words.
func (s *scan) hyphened(i int) bool {
	return s.is(i, "-") && s.joined(i) && s.joined(i+1) && s.tokens[i+1].kind == word
}

// touched reports whether a token continues another: the 17 of A17, the 2 of 1.2.3.
func (s *scan) touched(i int) bool {
	return s.tokens[i].kind == digits && s.joined(i) && i > 0 && s.tokens[i-1].kind == word
}

// chained reports whether a token continues a decimal number or a chain such as
// 1-2-3-4, in which no value begins.
func (s *scan) chained(i int) bool {
	return i >= 2 && s.tokens[i].kind == digits && s.joined(i) && s.tokens[i-2].kind == digits && s.ties(i-1)
}

// ended reports whether a value can end before a token, which it cannot within a
// chain.
func (s *scan) ended(end int) bool {
	return s.tokens[end-1].kind != digits || !s.ties(end) || !s.joined(end+1) || s.tokens[end+1].kind != digits
}

// ties reports whether a token is a mark that joins what precedes it with what
// follows.
func (s *scan) ties(i int) bool {
	if !s.joined(i) || s.tokens[i].kind != symbol {
		return false
	}
	switch s.tokens[i].text {
	case ".", "/", "-", ":", ",":
		return true
	}
	return false
}

// article reports whether a number is only a word that is mostly an article, such
// as un.
func (s *scan) article(i, end int) bool {
	_, one := s.language.phrases["one"].at(s.tokens, i)
	return one > i && one == end
}

// order returns the order of day and month of a date in figures. The month comes
// first only in the United States, and in English without a region.
func (s *scan) order() string {
	if s.language.order == "mdy" && s.region != "" && s.region != "US" {
		return "dmy"
	}
	return s.language.order
}
