package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// twenty gives a line ten patterns, five extractors for entities and five for
// intents.
func twenty(t testing.TB) *store.Account {
	t.Helper()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	a := start(t, db, store.Options{}).For("a")
	for i := range 10 {
		made(t, a, store.Regex, fmt.Sprintf(`{"pattern": "(?P<code%d>[A-Z]{%d}-\\d+)|total (?P<total>[\\d.,]+)", "groups": {"total": "number"}}`, i, i+1))
	}
	for _, types := range []string{`"email", "url"`, `"phone", "document"`, `"date", "time"`, `"money", "number"`, `"boolean"`} {
		made(t, a, store.Entity, `{"types": [`+types+`], "locale": "en-US"}`)
	}
	for range 5 {
		trained(t, db, a, made(t, a, store.Intent, intents("")).ID)
	}
	return a
}

const order = "Hi, I'd like to order 3 of AB-17 for next friday at 5pm, total 12.50, my number is 650-253-0000, thanks!"

// BenchmarkExtract runs twenty extractors on a message of their line, as a chat's
// turn does.
func BenchmarkExtract(b *testing.B) {
	a := twenty(b)
	m := said(order)
	results, err := a.Extract(b.Context(), m)
	require.NoError(b, err)
	require.Greater(b, len(store.Merge(results)), 5)
	before := testkit.OwnCPUTime(b)
	for b.Loop() {
		if _, err := a.Extract(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((testkit.OwnCPUTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// hostileTexts are of 64 KiB and make as much work as texts can.
func hostileTexts() map[string]string {
	const size = 64 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	return map[string]string{
		"letters": fill("a"), "digits": fill("7"), "numbers": fill("12.5 "), "dates": fill("1/2/26 "), "mails": fill("a@b."), "phones": fill("+1 650-253-0000 "),
		"codes": fill("A-"), "capitals": fill("A"), "totals": fill("total "), "words": fill("twenty one "), "accents": fill("é"), "spaces": fill(" "), "urls": fill("http://a.b/"),
		"parentheses": fill("("), "money": fill("$1 "), "order": fill(order + " "),
	}
}

// BenchmarkHostileText runs the twenty extractors on texts of 64 KiB that make
// much work; the worst of them is what counts.
func BenchmarkHostileText(b *testing.B) {
	a := twenty(b)
	for name, text := range hostileTexts() {
		b.Run(name, func(b *testing.B) {
			m := said(text)
			before := testkit.OwnCPUTime(b)
			for b.Loop() {
				if _, err := a.Extract(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((testkit.OwnCPUTime(b)-before).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}
