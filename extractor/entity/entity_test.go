package entity_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// now is a Wednesday.
var now = time.Date(2026, 3, 4, 23, 30, 0, 0, time.FixedZone("", -3*60*60))

var regions = map[string]string{"en": "US", "es": "", "pt": "BR"}

// TestCases finds what testdata says, and nothing where it says so.
func TestCases(t *testing.T) {
	t.Parallel()
	for language, region := range regions {
		raw, err := os.ReadFile(filepath.Join("testdata", language+".txt"))
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			t.Run(language+" "+line, func(t *testing.T) {
				t.Parallel()
				isFound(t, line, language, region)
			})
		}
	}
}

func isFound(t *testing.T, line, language, region string) {
	parts := strings.SplitN(strings.TrimSpace(line), " | ", 3)
	require.Len(t, parts, 3)
	found := entity.Find(parts[1], &entity.Options{Types: []string{parts[0]}, Locale: language, Region: region, Now: now})
	if parts[2] == "-" {
		require.Empty(t, found)
		return
	}
	require.NotEmpty(t, found)
	got, err := json.Marshal(found[0].Value)
	require.NoError(t, err)
	require.JSONEq(t, parts[2], string(got), found[0].Text)
	holds(t, parts[1], found)
}

// holds checks properties of all matches in any text.
func holds(t *testing.T, text string, found []entity.Match) {
	t.Helper()
	ends := map[string]int{}
	for _, m := range found {
		require.True(t, m.Start >= 0 && m.Start < m.End && m.End <= len(text), "%q: %+v", text, m)
		require.Equal(t, text[m.Start:m.End], m.Text)
		require.True(t, m.Confidence > 0 && m.Confidence <= 1)
		require.GreaterOrEqual(t, m.Start, ends[m.Type+m.Name], "%q: %+v overlaps", text, m)
		ends[m.Type+m.Name] = m.End
		_, err := json.Marshal(m.Value)
		require.NoError(t, err)
		if utf8.ValidString(text) {
			require.True(t, utf8.ValidString(m.Text), "%q: %q", text, m.Text)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	types := func(text string, asked ...string) []string {
		out := []string{}
		for _, m := range entity.Find(text, &entity.Options{Types: asked, Locale: "en", Now: now}) {
			out = append(out, m.Type)
		}
		return out
	}
	require.Equal(t, []string{"money"}, types("5 dollars", entity.Number, entity.Money), "the number is a part of it")
	require.Equal(t, []string{"number"}, types("5 dollars", entity.Number), "unless nobody asked for money")
	require.Equal(t, []string{"date", "time", "number"}, types("tomorrow at 5pm for 3", entity.Number, entity.Date, entity.Time))
	require.Empty(t, types("5 dollars", "colour"))
	require.Empty(t, types("", entity.Number))
}

func TestParse(t *testing.T) {
	t.Parallel()
	o := &entity.Options{Locale: "en-GB", Now: now}
	for _, c := range []struct {
		typ, text string
		want      any
	}{
		{entity.Date, " the 27. ", "2026-03-27"},
		{entity.Date, "4.5", "2026-05-04"},
		{entity.Date, "03/04/2026", "2026-04-03"},
		{entity.Number, "12", int64(12)},
		{entity.Number, "12 or 13", nil},
		{entity.Time, "on friday", nil},
	} {
		got, ok := entity.Parse(c.typ, c.text, o)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.want != nil, ok, c.text)
	}
	_, ok := entity.Parse(entity.Number, "", nil)
	require.False(t, ok)
}

func TestToday(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 2, 30, 0, 0, time.UTC)
	for zone, want := range map[string]string{"America/Sao_Paulo": "2026-03-04", "Asia/Tokyo": "2026-03-05"} {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		got, ok := entity.Parse(entity.Date, "today", &entity.Options{Now: at.In(location)})
		require.True(t, ok)
		require.Equal(t, want, got, zone)
	}
}

func TestMoneyOfTheRegion(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{"es-MX": "MXN", "es": "USD", "en-CA": "CAD", "pt-BR": "BRL", "en-US": "USD"} {
		got, ok := entity.Parse(entity.Money, "$ 5", &entity.Options{Locale: locale})
		require.True(t, ok)
		require.Equal(t, entity.MoneyValue{Amount: 5, Currency: want}, got, locale)
	}
}

// TestDictionaryTakesNoTime checks dictionaries and texts that would take minutes
// without a limit, because all words have the same letters. Exact words are still
// found.
func TestDictionaryTakesNoTime(t *testing.T) {
	t.Parallel()
	entries := []entity.Entry{{Value: strings.Repeat("a ", 60)}, {Value: "special delivery"}}
	for i := range 9000 {
		letters := []byte("abcdefghijklmn")
		for j, n := 0, i; j < 8; j++ {
			k := j + n%(14-j)
			letters[j], letters[k] = letters[k], letters[j]
			n /= 14 - j
		}
		entries = append(entries, entity.Entry{Value: string(letters)})
	}
	words, err := entity.NewDictionary("words", entries)
	require.NoError(t, err)
	for _, said := range []string{"nmlkjihgfedcba ", "nm lk jihg fedcba ", "a "} {
		text := strings.Repeat(said, 400) + "special delivery"
		testkit.Within(t, 3*time.Second, said, func() {
			found := entity.Find(text, &entity.Options{Types: []string{entity.Dictionary}, Dictionaries: []*entity.WordList{words}})
			require.NotEmpty(t, found, said)
			require.Equal(t, "special delivery", found[len(found)-1].Value, said)
		})
	}
}

func TestDictionary(t *testing.T) {
	t.Parallel()
	pizzas, err := entity.NewDictionary("pizza", []entity.Entry{
		{Value: "Margherita", Synonyms: []string{"Margarita", "plain one"}},
		{Value: "Quattro Stagioni", Synonyms: []string{"four seasons"}},
		{Value: "Açaí"},
	})
	require.NoError(t, err)
	o := &entity.Options{Types: []string{entity.Dictionary}, Dictionaries: []*entity.WordList{pizzas}}
	text := "One margherta, a FOUR SEASONS, the plain one and an acai; no marge"
	found := entity.Find(text, o)
	holds(t, text, found)
	values := []any{}
	for _, m := range found {
		require.Equal(t, "pizza", m.Name)
		values = append(values, m.Value)
	}
	require.Equal(t, []any{"Margherita", "Quattro Stagioni", "Margherita", "Açaí"}, values)
	require.Less(t, found[0].Confidence, found[1].Confidence, "a mistake makes it less sure")

	_, err = entity.NewDictionary("x", []entity.Entry{{Value: "a", Synonyms: []string{" "}}})
	require.ErrorContains(t, err, "dictionary[0].synonyms[0]")
	_, err = entity.NewDictionary("x", []entity.Entry{{Value: strings.Repeat("a", entity.MaxTerm+1)}})
	require.ErrorContains(t, err, "dictionary[0].value")
}

// FuzzFind checks the offsets of every recogniser in every language.
func FuzzFind(f *testing.F) {
	for language := range regions {
		raw, err := os.ReadFile(filepath.Join("testdata", language+".txt"))
		require.NoError(f, err)
		for line := range strings.Lines(string(raw)) {
			if parts := strings.SplitN(line, " | ", 3); len(parts) == 3 {
				f.Add(parts[1])
			}
		}
	}
	for _, text := range []string{"İ ıſ ½½ 1½ .5 -.", "e\u0301 1\u202f234", "\xff\xfe 12\x80", "((+55)) x9", "http://[::1]", "a@", "1^-2 9e999 2^99999", "half half"} {
		f.Add(text)
	}
	words, err := entity.NewDictionary("words", []entity.Entry{{Value: "order"}, {Value: "número"}, {Value: "special delivery"}})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		for language, region := range regions {
			o := entity.Options{Locale: language, Region: region, Now: now, Dictionaries: []*entity.WordList{words}, PossiblePhones: true}
			holds(t, text, entity.Find(text, &o))
			for _, typ := range entity.Types() {
				o.Types = []string{typ}
				holds(t, text, entity.Find(text, &o))
				entity.Parse(typ, text, &o)
			}
		}
	})
}
