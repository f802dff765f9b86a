package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// FuzzExtract runs every recogniser on texts: offsets always slice the text to
// what was matched, and values can be written.
func FuzzExtract(f *testing.F) {
	db := testkit.Open(f, testkit.SQLiteURL(f))
	a := start(f, db, store.Options{}).For("a")
	kinds := map[string]string{
		store.Regex:  `{"pattern": "(?P<n>\\d+)(?P<rest>.*)", "flags": "s", "groups": {"n": "number"}}`,
		store.Entity: `{"types": ["` + strings.Join(entity.Types(), `", "`) + `"], "possiblePhones": true, "dictionary": [{"value": "Margherita", "synonyms": ["pizza"]}]}`,
		store.Intent: intents(`, "threshold": 0`),
	}
	ids := map[string]string{}
	for kind, config := range kinds {
		ids[kind] = made(f, a, kind, config).ID
	}
	trained(f, db, a, ids[store.Intent])
	for _, text := range []string{order, "a margerita, 20 % off: 3,50 €", "no, à demain 18h", "\xff12", "1" + strings.Repeat("0", 400), "٣ ½ twenty-first"} {
		f.Add(text, "es", "BR")
	}
	f.Fuzz(func(t *testing.T, text, locale, region string) {
		for kind, id := range ids {
			m := said(text)
			m.Locale, m.Region, m.Now = locale, region, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
			r, err := a.Try(t.Context(), id, m)
			require.NoError(t, err)
			for _, found := range r.Matches {
				require.Equal(t, found.Text, text[found.Start:found.End], kind)
				require.True(t, !utf8.ValidString(text) || utf8.ValidString(found.Text), kind)
				require.True(t, found.Confidence >= 0 && found.Confidence <= 1, kind)
				require.NotEmpty(t, found.Name, kind)
			}
			_, err = json.Marshal(r.Values)
			require.NoError(t, err)
		}
	})
}

// FuzzConfig reads untrusted configs.
func FuzzConfig(f *testing.F) {
	a := idle(f, testkit.Open(f, testkit.SQLiteURL(f)), store.Options{}).For("a")
	for kind, config := range map[string]string{store.Regex: `{"pattern": "a(?P<b>c)"}`, store.Entity: `{"types": ["date"], "dictionary": [{"value": "x"}]}`, store.Intent: intents(""), store.AI: trip} {
		f.Add(kind, config, "text")
	}
	f.Fuzz(func(t *testing.T, kind, config, text string) {
		if len(config) > 2000 || len(text) > 2000 {
			return
		}
		e, err := a.Create(t.Context(), store.NewExtractor{Name: "n", Kind: kind, Scope: store.Scope{Reference: 1}, Config: json.RawMessage(config)})
		if err != nil {
			var bad *store.Invalid
			require.ErrorAs(t, err, &bad)
			require.NotEmpty(t, bad.Field)
			return
		}
		_, err = a.Extract(t.Context(), said(text))
		require.NoError(t, err)
		require.NoError(t, a.Delete(t.Context(), e.ID))
	})
}
