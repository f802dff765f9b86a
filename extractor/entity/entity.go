package entity

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The kinds of values.
const (
	Email      = "email"      // string, the host in lower case
	URL        = "url"        // string
	Phone      = "phone"      // string, E.164
	Number     = "number"     // int64 for an exact whole number, else float64
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

// Types returns all kinds that [Find] knows.
func Types() []string {
	return []string{Email, URL, Document, Phone, Money, Percentage, Date, Time, Duration, Quantity, Ordinal, Number, Boolean, Dictionary}
}

// MaxText is the number of bytes that [Find] reads of a text. It also reads at most
// some thousand words, numbers and signs, so that a long message costs no more than
// a usual one.
const MaxText = 16 << 10

// maxTokens is the maximum number of words, numbers and signs.
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

// Options select what to find and how to read a text.
type Options struct {
	Types  []string  // nil: all of [Types]; unknown types find nothing
	Locale string    // of the text, such as pt-BR; English if it has no table
	Region string    // for phone numbers without a country and for a bare $, such as BR; "": the locale's
	Now    time.Time // the reference point of dates, in the writer's zone; zero: the clock, in UTC

	PossiblePhones bool        // also numbers of a possible length that are not valid
	Dictionaries   []*WordList // for Dictionary
}

// Find finds values, in the order of their position. Values of one type do not
// overlap. A number within a value of another requested type is part of that value
// and is not reported.
func Find(text string, o *Options) []Match {
	return newFinder(text, o).find()
}

// Parse reads a text that consists of one value, which words such as "on" or "the"
// may introduce. It accepts more than [Find]: "the 27" is a date if the type is
// Date.
func Parse(typ, text string, o *Options) (any, bool) {
	f := newFinder(strings.TrimRight(strings.TrimSpace(text), ".,;:!?"), o)
	f.whole = true
	for f.lead < len(f.tokens) {
		_, end := f.language.phrases["lead"].at(f.tokens, f.lead)
		if end == f.lead {
			break
		}
		f.lead = end
	}
	for _, m := range f.matches(typ) {
		if m.End == len(f.text) && (m.Start == 0 || f.lead > 0 && f.lead < len(f.tokens) && m.Start <= f.tokens[f.lead].start) {
			return m.Value, true
		}
	}
	return nil, false
}

// finder finds values of all types in one text.
type finder struct {
	*scan
	numbers *numberScan
	amounts *amountScan
	times   *timeScan
}

func newFinder(text string, o *Options) *finder {
	s := newScan(text, o)
	numbers := &numberScan{scan: s, found: make([]numeral, len(s.tokens))}
	return &finder{
		scan:    s,
		numbers: numbers,
		amounts: &amountScan{numbers},
		times:   &timeScan{numberScan: numbers, lengths: make([]length, len(s.tokens))},
	}
}

func (f *finder) find() []Match {
	types := f.options.Types
	if types == nil {
		types = Types()
	}
	var out []Match
	for i, typ := range types {
		if !slices.Contains(types[:i], typ) {
			out = append(out, f.matches(typ)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return withoutParts(out)
}

// matches returns the values of one type, in order.
func (f *finder) matches(typ string) []Match {
	switch typ {
	case Email:
		return f.emails()
	case URL:
		return f.urls()
	case Phone:
		return f.phones()
	case Document:
		return f.documents()
	case Boolean:
		return f.booleans()
	case Dictionary:
		return f.dictionaries()
	}
	if at := f.recogniser(typ); at != nil {
		return f.each(typ, at)
	}
	return nil
}

// recogniser returns a function that finds a value at a token and returns the token
// after it.
func (f *finder) recogniser(typ string) func(i int) (value any, end int) {
	switch typ {
	case Number:
		return f.numbers.aloneAt
	case Ordinal:
		return f.numbers.ordinalAt
	case Money:
		return f.amounts.moneyAt
	case Percentage:
		return f.amounts.percentageAt
	case Date:
		return f.times.dateAt
	case Time:
		return f.times.timeAt
	case Duration:
		return f.times.durationAt
	case Quantity:
		return f.amounts.quantityAt
	}
	return nil
}

// each calls at for every token after the end of the last match.
func (f *finder) each(typ string, at func(int) (any, int)) []Match {
	var out []Match
	for i := 0; i < len(f.tokens); {
		value, end := at(i)
		if end <= i {
			i++
			continue
		}
		out = append(out, f.match(typ, value, f.tokens[i].start, f.tokens[end-1].end, 0.9))
		i = end
	}
	return out
}

// rank orders types that overlap: the value with the higher rank stays, the other
// is part of it. Types of equal rank may overlap.
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
		return -1 // never part of another value
	}
	return 5
}

// withoutParts drops values that overlap one of a higher rank.
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
