package entity_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

// leastOwn is the percentage of our own cases that must be right in English,
// Spanish and Portuguese, 100 for types that are missing.
var leastOwn = map[string][3]int{
	entity.Boolean: {93, 100, 100}, // "fine" and "y, please" are none
	entity.Time:    {100, 100, 99}, // "à uma" is "a uma" without its accent
}

// TestOwnCases counts how many of our own cases are right: the first value found in
// each sentence of testdata/cases must be the one after it, or there must be none.
// The cases were written without looking at the rules, and wrong ones stay in.
func TestOwnCases(t *testing.T) {
	t.Parallel()
	for _, typ := range entity.Types() {
		if typ == entity.Dictionary {
			continue // it has no words of its own
		}
		for i, language := range []string{"en", "es", "pt"} {
			raw, err := os.ReadFile(filepath.Join("testdata", "cases", typ+"."+language+".txt"))
			require.NoError(t, err)
			right, all := 0, 0
			for line := range strings.Lines(string(raw)) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				text, want, ok := strings.Cut(strings.TrimSpace(line), " | ")
				require.True(t, ok, line)
				all++
				if got := first(t, typ, language, text); sameJSON(t, got, want) {
					right++
				} else {
					t.Logf("%s %s: %q is %s, want %s", language, typ, text, got, want)
				}
			}
			t.Logf("%s %s: %d of %d, %.1f %%", language, typ, right, all, 100*float64(right)/float64(all))
			require.GreaterOrEqual(t, all, 200, "%s %s", language, typ)
			least, ok := leastOwn[typ]
			if !ok {
				least = [3]int{100, 100, 100}
			}
			require.GreaterOrEqual(t, 100*right, least[i]*all, "%s %s", language, typ)
		}
	}
}

// first returns what is found first of a type, as JSON; "-" when nothing is.
func first(t *testing.T, typ, language, text string) string {
	t.Helper()
	region := map[string]string{"en": "US", "es": "ES", "pt": "BR"}[language]
	o := &entity.Options{Types: []string{typ}, Locale: language, Region: region, Now: now}
	if typ == entity.Money && language == "es" {
		o.Region = ""
	}
	found := entity.Find(text, o)
	holds(t, text, found)
	if len(found) == 0 {
		return "-"
	}
	raw, err := json.Marshal(found[0].Value)
	require.NoError(t, err)
	return string(raw)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	if a == "-" || b == "-" {
		return a == b
	}
	var x, y any
	require.NoError(t, json.Unmarshal([]byte(a), &x), a)
	require.NoError(t, json.Unmarshal([]byte(b), &y), b)
	return reflect.DeepEqual(x, y)
}
