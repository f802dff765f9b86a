package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// prose returns a text with a number of passages whose words are as frequent as in
// a language: the n-th word occurs an n-th as often as the first.
func prose(passages int) string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 1, 20_000)
	var b strings.Builder
	for range passages {
		for b.Len()%1100 < 1000 {
			fmt.Fprintf(&b, "w%d ", zipf.Uint64())
		}
		b.WriteString("\n\n" + strings.Repeat(" ", max(0, 1100-b.Len()%1100)))
	}
	return b.String()
}

// BenchmarkSearch asks for eight words, common ones and rare ones, in a project
// of about 10,000 passages.
func BenchmarkSearch(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		f := setup(b, db, &knowledge.Options{})
		text := prose(1000)
		var passages int64
		for i := range 10 {
			passages += f.add(b, fmt.Sprintf("%d.txt", i), text).Passages
		}
		require.Greater(b, passages, int64(9_000))
		b.ResetTimer()
		for b.Loop() {
			found, err := f.Search(b.Context(), f.project, knowledge.Query{Text: "w0 w1 w2 w20 w200 w500 w2000 w9000"})
			require.NoError(b, err)
			require.NotEmpty(b, found)
		}
		b.ReportMetric(float64(passages), "passages")
	})
}

// BenchmarkAdd stores a file of about 1,000 passages.
func BenchmarkAdd(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		f := setup(b, db, &knowledge.Options{})
		text := prose(1000)
		b.ResetTimer()
		for b.Loop() {
			file := f.add(b, "a.txt", text)
			require.NoError(b, f.Delete(b.Context(), f.project, file.ID))
		}
	})
}
