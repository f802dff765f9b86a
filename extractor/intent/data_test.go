package intent_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/intent"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestBanking77 learns 77 intents of a bank's customers from 10,003 examples and
// classifies 3,080 others. Sentences from elsewhere must have no intent.
func TestBanking77(t *testing.T) {
	t.Parallel()
	shared := testkit.Shared(t)
	train, test := banking(t, shared, "train.csv"), banking(t, shared, "test.csv")
	for i := range train {
		train[i].Examples = train[i].Examples[:min(len(train[i].Examples), intent.MaxExamples)]
	}
	began := testkit.OwnCPUTime(t)
	m, err := intent.Train(t.Context(), train)
	require.NoError(t, err)
	learned := testkit.OwnCPUTime(t)
	report := m.Evaluate(test, 0)
	t.Logf("%d of %d right, learned in %s of CPU, %s a message", report.Right, report.Examples,
		learned-began, (testkit.OwnCPUTime(t)-learned)/3080)
	require.Greater(t, float64(report.Right)/float64(report.Examples), 0.91)
	require.Len(t, report.Intents, 77)

	raw, err := m.MarshalBinary()
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), intent.MaxStored)
	var again intent.Model
	require.NoError(t, again.UnmarshalBinary(raw))
	t.Logf("%.1f %% right with %d bytes", share(again.Evaluate(test, 0)), len(raw))
	require.Greater(t, share(again.Evaluate(test, 0)), 90.0)

	other := []intent.Intent{{Name: intent.NoMatch, Examples: elsewhere(t, shared)}}
	for _, threshold := range []float64{0.4, 0.5, 0.6, 0.7} {
		in, out := m.Evaluate(test, threshold), m.Evaluate(other, threshold)
		t.Logf("threshold %.2f: %.1f %% right, %.1f %% of %d others are none", threshold, share(in), share(out), out.Examples)
		if threshold == 0.6 {
			require.Greater(t, share(in), 86.0)
			require.Greater(t, share(out), 80.0)
		}
	}
}

// TestBanking77OfTen learns from ten examples an intent.
func TestBanking77OfTen(t *testing.T) {
	t.Parallel()
	shared := testkit.Shared(t)
	train, test := banking(t, shared, "train.csv"), banking(t, shared, "test.csv")
	sum := 0.0
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 0))
		few := make([]intent.Intent, len(train))
		for i, in := range train {
			few[i].Name = in.Name
			for _, j := range random.Perm(len(in.Examples))[:10] {
				few[i].Examples = append(few[i].Examples, in.Examples[j])
			}
		}
		m, err := intent.Train(t.Context(), few)
		require.NoError(t, err)
		sum += share(m.Evaluate(test, 0))
	}
	t.Logf("%.1f %% right", sum/5)
	require.Greater(t, sum/5, 72.0)
}

func share(r intent.Report) float64 { return 100 * float64(r.Right) / float64(r.Examples) }

// banking reads a file of banking77.
func banking(t *testing.T, shared, name string) []intent.Intent {
	raw, err := os.ReadFile(filepath.Join(shared, "data", "intents", "banking77", name))
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	require.NoError(t, err)
	var out []intent.Intent
	at := map[string]int{}
	for _, row := range rows[1:] {
		i, ok := at[row[1]]
		if !ok {
			i = len(out)
			at[row[1]] = i
			out = append(out, intent.Intent{Name: row[1]})
		}
		out[i].Examples = append(out[i].Examples, row[0])
	}
	return out
}

// elsewhere are English sentences about anything.
func elsewhere(t *testing.T, shared string) []string {
	files, err := filepath.Glob(filepath.Join(shared, "data", "entities", "recognizers-text", "English", "*.json"))
	require.NoError(t, err)
	var out []string
	seen := map[string]bool{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		var cases []struct{ Input string }
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(raw), "\uFEFF")), &cases))
		for _, c := range cases {
			if len(strings.Fields(c.Input)) >= 4 && !seen[c.Input] {
				seen[c.Input] = true
				out = append(out, c.Input)
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}
