package entity

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The kinds of values.
const (
	Email      = "email"      // string, its host in lower case
	URL        = "url"        // string
	Phone      = "phone"      // string, E.164
	Number     = "number"     // int64 when whole and exact, else float64
	Ordinal    = "ordinal"    // int64; −1 is the last one
	Money      = "money"      // MoneyValue
	Percentage = "percentage" // int64 or float64, 12.5 for 12.5 %
	Date       = "date"       // string, YYYY-MM-DD
	Time       = "time"       // string, HH:MM:SS
	Duration   = "duration"   // int64 or float64, seconds
	Boolean    = "boolean"    // bool
	Quantity   = "quantity"   // QuantityValue
	Document   = "document"   // DocumentValue
	Dictionary = "dictionary" // string, the entry's value
)

// Types are all kinds that [Find] knows.
func Types() []string {
	return []string{Email, URL, Document, Phone, Money, Percentage, Date, Time, Duration, Quantity, Ordinal, Number, Boolean, Dictionary}
}

// MaxText is how many bytes of a text are looked at, and of these no more than
// some thousand words, numbers and signs: messages are shorter, and whoever sends
// more shall not make more work.
const MaxText = 16 << 10

// maxTokens is how many words, numbers and signs these are.
const maxTokens = 2500

// Match is a value that was found.
type Match struct {
	Name       string  `json:"name"` // the type, or the dictionary's name
	Type       string  `json:"type"`
	Value      any     `json:"value"`
	Text       string  `json:"text"`
	Start      int     `json:"start"` // in bytes
	End        int     `json:"end"`
	Confidence float64 `json:"confidence"` // from 0 to 1
}

// Options say what to look for and how a text is meant.
type Options struct {
	Types  []string  // nil: all of [Types]; unknown ones find nothing
	Locale string    // of the text, as pt-BR; without a table for it: English
	Region string    // of phone numbers without a country and of bare $, as BR; "": the locale's
	Now    time.Time // what dates are relative to, in the writer's zone; zero: the clock, in UTC

	PossiblePhones bool        // numbers of a right length too, valid or not
	Dictionaries   []*WordList // for Dictionary
}

// Find finds values, in order of their place. Values of one type do not
// overlap; a number within a value of another type that was asked for is part
// of that.
func Find(text string, o *Options) []Match {
	return newScan(text, o).find()
}

// Parse reads a text that is one value and nothing else but words that lead to
// it (on, the). It is more generous than [Find]: "the 27" is a date if a date
// was asked for.
func Parse(typ, text string, o *Options) (any, bool) {
	s := newScan(strings.TrimRight(strings.TrimSpace(text), ".,;:!?"), o)
	s.whole = true
	for s.lead < len(s.tokens) {
		_, end := s.language.phrases["lead"].at(s, s.lead)
		if end == s.lead {
			break
		}
		s.lead = end
	}
	for _, m := range s.matches(typ) {
		if m.End == len(s.text) && (m.Start == 0 || s.lead > 0 && s.lead < len(s.tokens) && m.Start <= s.tokens[s.lead].start) {
			return m.Value, true
		}
	}
	return nil, false
}

// scan is one look at a text.
type scan struct {
	text     string
	options  Options
	language *language
	region   string
	now      time.Time
	tokens   []token
	numbers  []numeral // by token, as they are asked for
	lengths  []length
	whole    bool // the text is one value
	lead     int  // whole: how many tokens only lead to it
}

func newScan(text string, o *Options) *scan {
	s := &scan{text: truncate(text)}
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
	s.numbers = make([]numeral, len(s.tokens))
	s.lengths = make([]length, len(s.tokens))
	return s
}

// truncate bounds a text, at a character.
func truncate(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}

func (s *scan) find() []Match {
	types := s.options.Types
	if types == nil {
		types = Types()
	}
	var out []Match
	for i, typ := range types {
		if !slices.Contains(types[:i], typ) {
			out = append(out, s.matches(typ)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return withoutParts(out)
}

// matches are those of one type, in order.
func (s *scan) matches(typ string) []Match {
	switch typ {
	case Email:
		return s.emails()
	case URL:
		return s.urls()
	case Phone:
		return s.phones()
	case Document:
		return s.documents()
	case Boolean:
		return s.booleans()
	case Dictionary:
		return s.dictionaries()
	}
	if at := s.recogniser(typ); at != nil {
		return s.each(typ, at)
	}
	return nil
}

// recogniser finds a value that begins at a token, and tells the token behind it.
func (s *scan) recogniser(typ string) func(i int) (value any, end int) {
	switch typ {
	case Number:
		return s.aloneAt
	case Ordinal:
		return s.ordinalAt
	case Money:
		return s.moneyAt
	case Percentage:
		return s.percentageAt
	case Date:
		return s.dateAt
	case Time:
		return s.timeAt
	case Duration:
		return s.durationAt
	case Quantity:
		return s.quantityAt
	}
	return nil
}

// each looks at every token that begins no earlier than the last match ends.
func (s *scan) each(typ string, at func(int) (any, int)) []Match {
	var out []Match
	for i := 0; i < len(s.tokens); {
		value, end := at(i)
		if end <= i {
			i++
			continue
		}
		out = append(out, s.match(typ, value, s.tokens[i].start, s.tokens[end-1].end, 0.9))
		i = end
	}
	return out
}

func (s *scan) match(typ string, value any, start, end int, confidence float64) Match {
	return Match{Name: typ, Type: typ, Value: value, Text: s.text[start:end], Start: start, End: end, Confidence: confidence}
}

// rank says which of two overlapping types is the part of which: the higher
// one stays. Types of one rank may overlap.
func rank(typ string) int {
	switch typ {
	case Number:
		return 0
	case Ordinal, Quantity:
		return 1
	case Duration:
		return 2 // in three days
	case Percentage, Money, Date, Time:
		return 3
	case Phone:
		return 4
	case Boolean, Dictionary:
		return -1 // neither a part nor a whole
	}
	return 5
}

// withoutParts drops what lies within, or over, a match of a higher rank.
func withoutParts(all []Match) []Match {
	dropped := make([]bool, len(all))
	for i, a := range all {
		for j := i + 1; j < len(all) && all[j].Start < a.End; j++ {
			b := all[j]
			switch ra, rb := rank(a.Type), rank(b.Type); {
			case ra < 0 || rb < 0 || ra == rb:
			case ra > rb:
				dropped[j] = true
			default:
				dropped[i] = true
			}
		}
	}
	out := all[:0]
	for i, m := range all {
		if !dropped[i] {
			out = append(out, m)
		}
	}
	return out
}
