package extractor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestRegexTypes(t *testing.T) {
	t.Parallel()
	r, err := extractor.NewRegex(extractor.RegexConfig{
		Pattern: `order (?P<order>[a-z]-\d+) for (?P<total>[\d.,]+)(?: on (?P<day>\S+))?(?: call (?P<phone>[+\d -]+\d))?(?: mail (?P<mail>\S+))?`,
		Flags:   "i",
		Groups:  map[string]string{"total": "number", "day": "date", "phone": "phone", "mail": "email"},
	})
	require.NoError(t, err)
	o := &entity.Options{Locale: "es", Region: "US", Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	text := "ñ Order A-17 for 1.234,50 on 31/12/2026 call (650) "
	found := r.Find(text, o)
	require.Len(t, found, 3)
	values, err := extractor.ValuesOf(found)
	require.NoError(t, err)
	raw, err := json.Marshal(values)
	require.NoError(t, err)
	require.JSONEq(t, `{"order":"A-17","total":1234.5,"day":"2026-12-31"}`, string(raw))
	for _, m := range found {
		require.Equal(t, m.Text, text[m.Start:m.End])
	}
	values, err = extractor.ValuesOf(r.Find("order a-1 for 5 on someday call +1 650-253-0000 mail Ana@Example.com", o))
	require.NoError(t, err)
	raw, err = json.Marshal(values)
	require.NoError(t, err)
	require.JSONEq(t, `{"order":"a-1","total":5,"phone":"+16502530000","mail":"Ana@example.com"}`, string(raw), "what is no date has no value")
}

func TestRegexWithoutGroups(t *testing.T) {
	t.Parallel()
	r, err := extractor.NewRegex(extractor.RegexConfig{Pattern: `[A-Z]{2}\d*`})
	require.NoError(t, err)
	found := r.Find("é AB12, CD", nil)
	require.Len(t, found, 2)
	require.Equal(t, entity.Match{Name: "match", Type: "string", Value: "AB12", Text: "AB12", Start: 3, End: 7, Confidence: 1}, found[0])
	r, err = extractor.NewRegex(extractor.RegexConfig{Pattern: `x*`})
	require.NoError(t, err)
	require.Empty(t, r.Find("abc", nil), "an empty place is nothing")
}

func TestRegexRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config extractor.RegexConfig
		says   string
	}{
		"nothing":      {extractor.RegexConfig{}, "pattern"},
		"length":       {extractor.RegexConfig{Pattern: strings.Repeat("a", extractor.MaxPattern+1)}, "pattern"},
		"syntax":       {extractor.RegexConfig{Pattern: "("}, "pattern"},
		"back refers":  {extractor.RegexConfig{Pattern: `(a)\1`}, "pattern"},
		"flag":         {extractor.RegexConfig{Pattern: "a", Flags: "x"}, "flags"},
		"flag twice":   {extractor.RegexConfig{Pattern: "a", Flags: "ii"}, "flags"},
		"flag escapes": {extractor.RegexConfig{Pattern: "a", Flags: ")"}, "flags"},
		"repetitions":  {extractor.RegexConfig{Pattern: `(x?){1000}y`}, "repetitions"},
		"group":        {extractor.RegexConfig{Pattern: "a", Groups: map[string]string{"b": "string"}}, "groups.b"},
		"type":         {extractor.RegexConfig{Pattern: "(?P<b>a)", Groups: map[string]string{"b": "colour"}}, "groups.b"},
	} {
		_, err := extractor.NewRegex(c.config)
		require.ErrorContains(t, err, c.says, name)
	}
}

// TestRegexTakesNoTime checks patterns and texts that would take seconds without
// limits.
func TestRegexTakesNoTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 16<<10)
	for _, pattern := range []string{`x(?:(?:x|xx|xxx){0,50}y)?`, `(?:(?:x{0,5}){0,5}){0,5}y|x`, `(?:x?){450}y|x`, `x(?:.*y)?`} {
		r, err := extractor.NewRegex(extractor.RegexConfig{Pattern: pattern})
		require.NoError(t, err, pattern)
		testkit.Within(t, time.Second, pattern, func() { require.NotEmpty(t, r.Find(text, nil), pattern) })
	}
	many := ""
	groups := map[string]string{}
	for i := range 50 {
		name := fmt.Sprintf("d%d", i)
		many, groups[name] = many+"(?P<"+name+">", "date"
	}
	r, err := extractor.NewRegex(extractor.RegexConfig{Pattern: many + ".*" + strings.Repeat(")", 50), Groups: groups})
	require.NoError(t, err)
	testkit.Within(t, time.Second, "many groups", func() { require.Empty(t, r.Find(strings.Repeat("1 may ", 2700), nil)) })
}

func TestRegexEvaluate(t *testing.T) {
	t.Parallel()
	r, err := extractor.NewRegex(extractor.RegexConfig{
		Pattern: `#(?P<n>\d+)`, Groups: map[string]string{"n": "number"},
		Tests: []extractor.Test{
			{Text: "see #12", Values: map[string]json.RawMessage{"n": json.RawMessage("12.0")}},
			{Text: "nothing here"},
			{Text: "see #13", Values: map[string]json.RawMessage{"n": json.RawMessage("12")}},
			{Text: "see #14"},
		},
	})
	require.NoError(t, err)
	report, err := r.Evaluate()
	require.NoError(t, err)
	require.Equal(t, 4, report.Tests)
	require.Equal(t, 2, report.Right)
	require.Len(t, report.Failures, 2)
	require.Equal(t, 2, report.Failures[0].Test)
	require.Equal(t, extractor.Values{"n": json.RawMessage("13")}, report.Failures[0].Found)
	_, err = extractor.Evaluate([]extractor.Test{{Text: "#1", Values: map[string]json.RawMessage{"n": json.RawMessage("{")}}}, r.Find)
	require.ErrorContains(t, err, "tests[0].values")
}

func FuzzRegex(f *testing.F) {
	f.Add(`(?P<n>\d+)`, "i", "number", "order 12")
	f.Add(`(?P<n>.+)`, "s", "date", "mañana\n")
	f.Fuzz(func(t *testing.T, pattern, flags, typ, text string) {
		if len(text) > 1000 || len(pattern) > 100 {
			return
		}
		r, err := extractor.NewRegex(extractor.RegexConfig{Pattern: pattern, Flags: flags, Groups: map[string]string{"n": typ}})
		if err != nil {
			return
		}
		for _, m := range r.Find(text, &entity.Options{Region: "BR"}) {
			require.Equal(t, m.Text, text[m.Start:m.End])
			require.True(t, !utf8.ValidString(text) || utf8.ValidString(m.Text))
		}
	})
}
