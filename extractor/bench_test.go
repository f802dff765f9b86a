package extractor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// BenchmarkTwenty runs twenty extractors on a message: ten patterns, five for
// entities and five for intents.
func BenchmarkTwenty(b *testing.B) {
	var all []func(string)
	for i := range 10 {
		r, err := extractor.NewRegex(extractor.RegexConfig{
			Pattern: fmt.Sprintf(`(?P<code>[A-Z]{%d}-\d+)|total (?P<total>[\d.,]+)`, i+1), Groups: map[string]string{"total": "number"},
		})
		require.NoError(b, err)
		all = append(all, func(text string) { r.Find(text, nil) })
	}
	for _, types := range [][]string{
		{entity.Email, entity.URL}, {entity.Phone, entity.Document}, {entity.Date, entity.Time}, {entity.Money, entity.Number}, {entity.Boolean},
	} {
		o := &entity.Options{Types: types, Locale: "en-US"}
		all = append(all, func(text string) { entity.Find(text, o) })
	}
	m, err := intent.Train(b.Context(), []intent.Intent{
		{Name: "order", Examples: []string{"I want to buy this", "please send me two of them", "I would like to order"}},
		{Name: "status", Examples: []string{"where is my order", "has it been shipped", "when does it arrive"}},
	})
	require.NoError(b, err)
	for range 5 {
		all = append(all, func(text string) { m.Rank(text) })
	}
	const text = "Hi, I'd like to order 3 of AB-17 for next friday at 5pm, total 12.50, my number is 650-253-0000, thanks!"
	before := testkit.OwnCPUTime(b)
	for b.Loop() {
		for _, find := range all {
			find(text)
		}
	}
	b.ReportMetric(float64((testkit.OwnCPUTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}
