package search_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/internal/search"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// TestWindows has the windows of a search, and their shorter spans, be met by each
// message once, the latest first.
func TestWindows(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600 * 1_000_000
	q := search.Parse("hello")
	for range 200 {
		latest := rand.Int64N(30_000*day) - 100*day
		earliest := latest - rand.Int64N(2000*day)
		at := earliest + rand.Int64N(latest-earliest+1)
		words := map[string]bool{}
		for _, w := range strings.Fields(search.Words("hello", 7, 8, at)) {
			words[w] = true
		}
		met, narrow := 0, 0
		for m := range search.Windows(latest, earliest) {
			if !meets(m.Postgres(q, search.Scope{References: []int64{7}}), words) {
				continue
			}
			met++
			for part := range m.Narrowed(latest) {
				if meets(part.Postgres(q, search.Scope{References: []int64{7}}), words) {
					narrow++
				}
			}
		}
		require.Equal(t, 1, met, "%d of %d to %d", at, earliest, latest)
		require.Equal(t, 1, narrow, "%d of %d to %d", at, earliest, latest)
	}
}

// meets says whether words meet a condition: some of the windows, whose parts are joined
// by or, and one of the spans.
func meets(condition string, words map[string]bool) bool {
	windows, spans, narrowed := strings.Cut(condition, " & ('~")
	if narrowed && !anyOf("'~"+spans, words) {
		return false
	}
	for window := range strings.SplitSeq(windows, ") | (") {
		all := true
		for part := range strings.SplitSeq(window, " & ") {
			all = all && anyOf(part, words)
		}
		if all {
			return true
		}
	}
	return false
}

// anyOf says whether one of the quoted words of a condition is there.
func anyOf(condition string, words map[string]bool) bool {
	for i, part := range strings.Split(condition, "'") {
		if i%2 == 1 && words[part] {
			return true
		}
	}
	return false
}

// TestQuery_Excerpt cuts the text around the first match, between words, and says which
// parts of it match.
func TestQuery_Excerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("before ", 50) + "the Café society" + strings.Repeat(" after", 100)
	for _, c := range []struct{ query, text, want string }{
		{"hello", "Hello, world", "[Hello], world"},
		{"wor hel", "Hello, world", "Hello, world"},
		{"hello wor", "Hello, world", "[Hello], [world]"},
		{`"hello world"`, "say hello world, hello", "say [hello world], hello"},
		{"cafe", "two cafe\u0301s", "two [cafe\u0301s]"},
		{"650 555 1234", "call +1 (650) 555-1234", "call +1 ([650) 555-1234]"},
		{"cafe soc", long, "…" + strings.Repeat("before ", 7) + "the [Café] [society]" + strings.Repeat(" after", 29) + "…"},
		{"議室", "明天的会議室", "明天的会[議室]"},
	} {
		var got strings.Builder
		for _, p := range search.Parse(c.query).Excerpt(c.text) {
			if p.Match {
				got.WriteString("[" + p.Text + "]")
			} else {
				got.WriteString(p.Text)
			}
		}
		if c.query == "wor hel" { // only the last word may be the beginning of one
			require.Empty(t, got.String())
			continue
		}
		require.Equal(t, c.want, got.String(), c.query)
	}
}

// FuzzParse has any text be a query that any text can be compared with: what an excerpt
// shows is in the text.
func FuzzParse(f *testing.F) {
	f.Add(`"quick brown" fo`, "the quick brown fox")
	f.Add("\xff👍🏽 ß İ", "ss i👍")
	f.Add("+1 650-555", "1 650 555 1234")
	f.Fuzz(func(t *testing.T, query, text string) {
		var all strings.Builder
		for _, p := range search.Parse(query).Excerpt(text) {
			all.WriteString(p.Text)
		}
		require.Contains(t, text, strings.Trim(all.String(), "…"))
	})
}

// TestLongTexts holds what anybody may send to a cost that grows with its length only.
func TestLongTexts(t *testing.T) {
	for name, part := range map[string]string{
		"one word": "x", "decomposed": "e\u0301\u0327", "hangul": "각", "ligatures": "ﷺ", "words": "ab ", "digits": "1",
		"groups of digits": "1 ", "a group a line": "12\n", "no space": "会", "emoji": "👍🏽", "joined": "👩\u200d", "quotes": `"`,
		"quoted": `"a" `, "not UTF-8": "\xff", "spaces": " ",
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(size int) uint64 {
				text := strings.Repeat(part, size/len(part))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				search.Words(text, 1, 2, 3)
				search.Text(&payload.Body{Text: text})
				search.Parse("x 1 会 1 1 1 1 1 1 1").Excerpt(text)
				search.Parse(text[:len(text)/64])
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			small, large := cost(1<<16), cost(1<<18)
			require.Less(t, large, 6*small+1<<20, "four times the text")
		})
	}
}
