package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const trip = `{"model": "mock/x", "instructions": "Cities in English.", "when": "always", "schema": {"type": "object", "required": ["city"],
	"properties": {"city": {"type": "string"}, "people": {"type": "integer"}, "date": {"type": "string"}}}}`

// TestValuesOfAModel checks that values without evidence in the message are
// dropped, and that usage is reported.
func TestValuesOfAModel(t *testing.T) {
	t.Parallel()
	p := &parrot{answer: `{"values": {"city": "Vienna", "people": 3}, "evidence": {"city": "nach  WIEN", "people": "three of us"}}`}
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{Model: p.models}).For("a")
	e := made(t, a, store.AI, trip)
	const text = "è bello: nach Wien!"
	results, err := a.Extract(t.Context(), said(text))
	require.NoError(t, err)
	require.Len(t, results, 1)
	r := results[0]
	require.Equal(t, store.AI, r.Extractor.Kind)
	require.Len(t, r.Matches, 1)
	require.Equal(t, "nach Wien", text[r.Matches[0].Start:r.Matches[0].End])
	require.Equal(t, "nach Wien", r.Matches[0].Text)
	require.Equal(t, "string", r.Matches[0].Type)
	require.Equal(t, &store.Usage{Calls: 2, Tokens: llm.Usage{Known: true, Input: 20, Output: 10}, CostNano: 3000}, r.Usage, "it was asked for proof once more")
	require.Contains(t, p.asked[0].System, "Cities in English.")
	require.Contains(t, p.asked[0].System, "2026-03-04")
	require.NotContains(t, p.asked[0].System, "Wien")

	require.JSONEq(t, `{"city":"Vienna"}`, valuesOf(t, a, said(text)))
	require.Equal(t, 2, p.times(), "what was said of a text is known")
	_, err = a.Update(t.Context(), e.ID, store.Change{Config: []byte(`{"model": "mock/x", "when": "always", "schema": {"type": "object", "properties": {"city": {}}}}`)})
	require.NoError(t, err)
	p.say(`{"values": {"city": "Wien"}, "evidence": {"city": "Wien"}}`)
	require.JSONEq(t, `{"city":"Wien"}`, valuesOf(t, a, said(text)))
	require.Equal(t, 3, p.times(), "another version is asked again")
}

// TestModelsAreAskedForWhatIsMissing checks that a model is asked only for missing
// values.
func TestModelsAreAskedForWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := &parrot{answer: `{"values": {"city": "Rome"}, "evidence": {"city": "Rome"}}`}
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{Model: p.models}).For("a")
	made(t, a, store.AI, `{"model": "mock/x", "schema": {"type": "object", "properties": {"city": {"type": "string"}, "date": {"type": "string"}}}}`)
	made(t, a, store.Entity, `{"types": ["date"]}`)
	require.JSONEq(t, `{"city":"Rome","date":"2026-03-05"}`, valuesOf(t, a, said("to Rome tomorrow")))
	require.Contains(t, string(p.asked[0].Schema), `"city"`)
	require.NotContains(t, string(p.asked[0].Schema), `"date"`, "the cheap one found it")
	made(t, a, store.Regex, `{"pattern": "to (?P<city>\\w+)"}`)
	require.JSONEq(t, `{"city":"Oslo","date":"2026-03-05"}`, valuesOf(t, a, said("to Oslo tomorrow")))
	require.Equal(t, 1, p.times())
	require.Equal(t, "{}", valuesOf(t, a, said("")))
	require.Equal(t, 1, p.times(), "of nothing nothing is asked")
}

// TestFailuresFindNothing checks that a model that fails, hangs or returns nonsense
// does not affect the values of other extractors, and that Try returns its error.
func TestFailuresFindNothing(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*parrot{
		"fails":    {err: &llm.Error{Code: llm.CodeUnavailable}},
		"hangs":    {hang: true},
		"nonsense": {answer: `{"city": 5}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{Model: p.models, Timeout: 50 * time.Millisecond}).For("a")
			e := made(t, a, store.AI, trip)
			made(t, a, store.Entity, `{"types": ["date"]}`)
			require.JSONEq(t, `{"date":"2026-03-05"}`, valuesOf(t, a, said("to Rome tomorrow")))
			_, err := a.Try(t.Context(), e.ID, said("to Rome"))
			require.Error(t, err)
			require.NotContains(t, err.Error(), "Rome")
		})
	}
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{}).For("a")
	e := made(t, a, store.AI, trip)
	_, err := a.Try(t.Context(), e.ID, said("to Rome"))
	var failed *llm.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, llm.CodeNoModel, failed.Code)
	require.NotErrorIs(t, err, store.ErrNotFound)
}

// TestFallback checks that a model is asked when no intent matches.
func TestFallback(t *testing.T) {
	t.Parallel()
	p := &parrot{answer: `{"intent": "refund"}`}
	db := testkit.Open(t, testkit.SQLiteURL(t))
	a := start(t, db, store.Options{Model: p.models}).For("a")
	e := made(t, a, store.Intent, intents(`, "threshold": 0.7, "fallback": {"model": "mock/x"}`))
	trained(t, db, a, e.ID)
	require.JSONEq(t, `{"intent":"delivery"}`, valuesOf(t, a, said("where is my package")))
	require.Zero(t, p.times())
	r, err := a.Try(t.Context(), e.ID, said("esto es un robo"))
	require.NoError(t, err)
	require.JSONEq(t, `"refund"`, string(r.Values["intent"]))
	require.Equal(t, 1, r.Usage.Calls)
	p.say(`{"intent": "nomatch"}`)
	require.Equal(t, "{}", valuesOf(t, a, said("something else altogether")))
	require.Equal(t, 2, p.times())
}
