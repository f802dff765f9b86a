package entity

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed languages/*.json
var files embed.FS

// common is the file with the rules that all languages share.
const common = "common"

// language is a table of rules, ready for use.
type language struct {
	decimal    string // decimal separator of written numbers: . or ,
	order      string // of a date in figures: dmy or mdy
	cardinals  map[string]float64
	hundreds   map[string]bool // words that multiply by 100
	scales     map[string]float64
	attached   map[string]float64 // multipliers right after figures: 20k
	fractions  map[string]float64 // divisors
	ordinals   map[string]int64
	relative   phrases // ordinals from the end
	suffixes   map[string]bool
	and        map[string]bool
	phrases    map[string]phrases // by slot
	currencies phrases
	signs      phrases // of currencies, which may precede an amount
	cents      phrases
	measures   phrases
	percent    phrases
	codes      map[string]bool // of currencies, ISO 4217
	boolean    phrases
	known      map[string]bool // words with which a slot can begin
	date       *grammar
	time       *grammar
	duration   *grammar
}

// table is the format of a language file.
type table struct {
	Decimal, Order                       string
	Numbers, Scales, Attached, Fractions map[string]string
	Hundreds, And                        string
	Ordinals, Relative                   map[string]string
	Suffixes                             string
	Slots                                map[string]map[string]string
	Currencies, Cents, Measures          map[string]string
	Percent, Yes, No, Unsure             string
	Date, Time, Duration                 []tableRule
}

type tableRule struct {
	Rule, Is, Order string
	Whole           bool
}

// languages returns all tables by the names of their files. It reads them once.
var languages = sync.OnceValue(func() map[string]*language {
	shared := readTable(common)
	out := map[string]*language{}
	entries, err := files.ReadDir("languages")
	if err != nil {
		panic(fmt.Errorf("reading the tables of languages: %w", err))
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".json")
		if name == common {
			continue
		}
		l, err := newLanguage(readTable(name), shared)
		if err != nil {
			panic(fmt.Errorf("reading the table of language %s: %w", name, err))
		}
		out[name] = l
	}
	return out
})

// readTable reads an embedded file. It panics if the file is invalid.
func readTable(name string) *table {
	raw, err := files.ReadFile("languages/" + name + ".json")
	if err == nil {
		t := &table{}
		if err = json.Unmarshal(raw, t); err == nil {
			return t
		}
	}
	panic(fmt.Errorf("reading the table of language %s: %w", name, err))
}

// Speaks reports whether there is a table for the language of a locale such as
// pt-BR. "" is English.
func Speaks(locale string) bool {
	base, _, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	return base == "" || languages()[strings.ToLower(base)] != nil
}

// languageOf returns the table for a locale and the locale's region.
func languageOf(locale string) (*language, string) {
	base, region, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	l := languages()[strings.ToLower(base)]
	if l == nil {
		l = languages()["en"]
	}
	if i := strings.LastIndexByte(region, '-'); i >= 0 {
		region = region[i+1:]
	}
	if len(region) != 2 {
		region = ""
	}
	return l, strings.ToUpper(region)
}

func newLanguage(t, shared *table) (*language, error) {
	l := &language{
		decimal: t.Decimal, order: t.Order,
		hundreds: wordSet(t.Hundreds), and: wordSet(t.And), suffixes: wordSet(t.Suffixes),
		relative:   newPhrases(t.Relative),
		currencies: newPhrases(merged(t.Currencies, shared.Currencies)),
		signs:      newPhrases(shared.Currencies),
		cents:      newPhrases(t.Cents),
		measures:   newPhrases(merged(t.Measures, shared.Measures)),
		percent:    newPhrases(map[string]string{"%": t.Percent + "|" + shared.Percent}),
		boolean:    newPhrases(map[string]string{"yes": t.Yes + "|" + shared.Yes, "no": t.No + "|" + shared.No, "": t.Unsure}),
		phrases:    map[string]phrases{},
	}
	l.codes = wordSet(strings.Join(slices.Collect(maps.Keys(shared.Currencies)), "|"))
	for name, slot := range t.Slots {
		l.phrases[name] = newPhrases(slot)
	}
	l.known = map[string]bool{}
	for _, p := range l.phrases {
		know(l, p)
	}
	know(l, l.relative)
	know(l, l.hundreds)
	var err error
	for _, to := range []struct {
		words *map[string]float64
		table map[string]string
	}{
		{&l.cardinals, t.Numbers}, {&l.scales, t.Scales}, {&l.attached, merged(t.Attached, shared.Attached)}, {&l.fractions, t.Fractions},
	} {
		if *to.words, err = values(to.table); err != nil {
			return nil, err
		}
		know(l, *to.words)
	}
	ordinals, err := values(t.Ordinals)
	if err != nil {
		return nil, err
	}
	know(l, ordinals)
	l.ordinals = map[string]int64{}
	for w, n := range ordinals {
		l.ordinals[w] = int64(n)
	}
	for _, to := range []struct {
		grammar **grammar
		rules   []tableRule
	}{
		{&l.date, append(t.Date, shared.Date...)}, {&l.time, append(t.Time, shared.Time...)}, {&l.duration, append(t.Duration, shared.Duration...)},
	} {
		if *to.grammar, err = l.compile(to.rules); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// know records words that can begin a value, so that other words need no lookup.
func know[V any](l *language, words map[string]V) {
	for w := range words {
		l.known[w] = true
	}
}

// compile parses rules.
func (l *language) compile(rules []tableRule) (*grammar, error) {
	out := make([]*rule, len(rules))
	for i, r := range rules {
		p, err := pattern(r.Rule)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Rule, err)
		}
		out[i] = &rule{pattern: p, is: r.Is, whole: r.Whole, order: r.Order}
	}
	return newGrammar(out)
}

// merged merges two tables. Where both have a value, its phrases add up.
func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, t := range []map[string]string{a, b} {
		for k, v := range t {
			if out[k] != "" {
				v = out[k] + "|" + v
			}
			out[k] = v
		}
	}
	return out
}

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.SplitSeq(words, "|") {
		if w != "" {
			out[fold(w)] = true
		}
	}
	return out
}

// values inverts a table from numbers to words.
func values(t map[string]string) (map[string]float64, error) {
	out := map[string]float64{}
	for value, words := range t {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the number of %q: %w", words, err)
		}
		for w := range wordSet(words) {
			out[w] = n
		}
	}
	return out, nil
}
