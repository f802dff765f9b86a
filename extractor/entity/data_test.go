package entity_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// specification is a case of Recognizers-Text.
type specification struct {
	Input   string
	Context struct{ ReferenceDateTime string }
	Results []struct {
		Text       string
		Resolution map[string]any
		Value      struct{ FutureResolution map[string]string }
	}
}

// TestRecognizersText reads what the cases of Recognizers-Text say is there,
// given its text, and says how much of it is right.
func TestRecognizersText(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(testkit.Shared(t), "data", "entities", "recognizers-text")
	for _, c := range []struct {
		file, typ, member string
		least             [3]float64 // en, es, pt
	}{
		{"DateParser", entity.Date, "date", [3]float64{75, 75, 75}},
		{"TimeParser", entity.Time, "time", [3]float64{75, 75, 75}},
		{"DurationParser", entity.Duration, "duration", [3]float64{75, 75, 75}},
		{"NumberModel", entity.Number, "value", [3]float64{85, 85, 85}},
		{"OrdinalModel", entity.Ordinal, "value", [3]float64{0, 0, 0}},
		{"CurrencyModel", entity.Money, "value", [3]float64{75, 75, 75}},
		{"BooleanModel", entity.Boolean, "value", [3]float64{90, 85, 85}},
	} {
		for i, language := range []string{"English", "Spanish", "Portuguese"} {
			o := &entity.Options{Locale: []string{"en", "es", "pt"}[i]}
			right, found, all := 0, 0, 0
			for _, s := range specifications(t, filepath.Join(shared, language, c.file+".json")) {
				if s.Context.ReferenceDateTime != "" {
					var err error
					o.Now, err = time.Parse("2006-01-02T15:04:05", s.Context.ReferenceDateTime)
					require.NoError(t, err)
				}
				for _, r := range s.Results {
					want := any(r.Value.FutureResolution[c.member])
					if r.Resolution != nil {
						want = r.Resolution[c.member]
					}
					if want == nil || want == "" {
						continue
					}
					if end, ok := fromTheEnd[fmt.Sprint(want)]; ok {
						want = end
					}
					if minor[fmt.Sprint(r.Resolution["unit"])] {
						want = hundredth(t, want)
					}
					got, ok := entity.Parse(c.typ, r.Text, o)
					all++
					if finds(c.typ, s.Input, r.Text, o) {
						found++
					}
					if ok && same(got, want) {
						right++
					} else {
						t.Logf("%s %s: %q is %v, want %v", language, c.typ, r.Text, got, want)
					}
				}
			}
			share := 100 * float64(right) / float64(max(all, 1))
			t.Logf("%s %s: %d of %d, %.0f %%; %d are found in their sentences, to the letter", language, c.typ, right, all, share, found)
			require.GreaterOrEqual(t, share, c.least[i], "%s %s", language, c.typ)
		}
	}
}

// finds reports whether a text is found within another.
func finds(typ, text, want string, o *entity.Options) bool {
	asked := *o
	asked.Types = []string{typ}
	for _, m := range entity.Find(text, &asked) {
		if strings.EqualFold(m.Text, want) {
			return true
		}
	}
	return false
}

// minor are units that are hundredths of a currency, which is how we count them.
var minor = map[string]bool{
	"Cent": true, "Pence": true, "Penny": true, "Centavo": true, "Céntimo": true, "Cêntimo": true, "Centavo de dólar": true, "Penique": true,
}

// fromTheEnd is how they write ordinals that count from the end.
var fromTheEnd = map[string]string{"end+0": "-1", "end-1": "-2", "end-2": "-3"}

func hundredth(t *testing.T, v any) string {
	f, err := strconv.ParseFloat(strings.Replace(fmt.Sprint(v), ",", ".", 1), 64)
	require.NoError(t, err)
	return fmt.Sprint(f / 100)
}

func specifications(t *testing.T, file string) []specification {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []specification
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(raw), "\uFEFF")), &out), file)
	return out
}

// same compares a value with theirs, which are strings.
func same(got, want any) bool {
	if m, ok := got.(entity.MoneyValue); ok {
		got = m.Amount
	}
	if b, ok := want.(bool); ok {
		return got == b
	}
	text := fmt.Sprint(want)
	if fmt.Sprint(got) == text {
		return true
	}
	a, errA := strconv.ParseFloat(fmt.Sprint(got), 64)
	b, errB := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return errA == nil && errB == nil && math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), 1)
}

// TestRecognizersTextFinds finds addresses and phone numbers in whole texts.
func TestRecognizersTextFinds(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(testkit.Shared(t), "data", "entities", "recognizers-text")
	for _, c := range []struct {
		language, file, typ, region string
		least                       float64 // percent of the cases
		limit                       int     // found where nothing is
	}{
		{"English", "EmailModel", entity.Email, "", 93, 0},
		{"English", "URLModel", entity.URL, "", 85, 2},
		{"English", "PhoneNumberModel", entity.Phone, "US", 60, 10},
		{"Portuguese", "PhoneNumberModel", entity.Phone, "BR", 48, 10},
	} {
		right, wrong := 0, 0
		all := specifications(t, filepath.Join(shared, c.language, c.file+".json"))
		for _, s := range all {
			found := []string{}
			for _, m := range entity.Find(s.Input, &entity.Options{Types: []string{c.typ}, Locale: "en-" + c.region, PossiblePhones: true}) {
				require.Equal(t, m.Text, s.Input[m.Start:m.End])
				found = append(found, strings.ToLower(m.Text))
			}
			want := []string{}
			for _, r := range s.Results {
				want = append(want, strings.ToLower(r.Text))
			}
			if strings.Join(want, " ") == strings.Join(found, " ") {
				right++
				continue
			}
			wrong += max(0, len(found)-len(want))
			t.Logf("%s %s: %q has %q, not %q", c.language, c.typ, s.Input, want, found)
		}
		share := 100 * float64(right) / float64(len(all))
		t.Logf("%s %s: %d of %d, %.0f %%, %d too many", c.language, c.typ, right, len(all), share, wrong)
		require.GreaterOrEqual(t, share, c.least, "%s %s", c.language, c.typ)
		require.LessOrEqual(t, wrong, c.limit, "%s %s", c.language, c.typ)
	}
}
