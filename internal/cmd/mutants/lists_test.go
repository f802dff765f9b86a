package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSurvivors reads a list: entries share a reason, and each needs one.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	s, err := readSurvivors(list(t, "# why\nshop check boundary: o.count < 1\nshop gone bool: return true\n\tNobody can\n\tsee it.\n"))
	require.NoError(t, err)
	const reason = "Nobody can see it. "
	require.Equal(t, map[string]string{"shop check boundary: o.count < 1": reason, "shop gone bool: return true": reason}, s.reasons)
	all := shopPoints(t)
	s.seen(all)
	require.Equal(t, []string{"shop gone bool: return true"}, s.unused([]subject{shop}))
	require.Empty(t, s.unused(subjects))
	accepted := 0
	for _, p := range all {
		if s.has(p) {
			accepted++
		}
	}
	require.Equal(t, 1, accepted)

	_, err = readSurvivors(list(t, "shop check bool: return true\n"))
	require.ErrorContains(t, err, "shop check bool: return true has no reason")
	s, err = readSurvivors(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Empty(t, s.reasons)
}

// TestOwnSurvivors requires that the code has each entry of this repository's list.
func TestOwnSurvivors(t *testing.T) {
	t.Parallel()
	list, err := readSurvivors("survivors.txt")
	require.NoError(t, err)
	for _, s := range subjects {
		files, err := load(t.Context(), abs(t, "../../.."), s.packages)
		require.NoError(t, err)
		list.seen(points(files))
	}
	require.Empty(t, list.unused(subjects))
}

// TestPromises breaks promises of the package in testdata.
func TestPromises(t *testing.T) {
	t.Parallel()
	const change = "A paid order is not paid again.\nfile shop/shop.go\n-\tif o.paid || (o.count) >= limit {\n"
	for _, c := range []struct{ text, err string }{
		{change + "+\tif (o.count) > limit {\ntest shop TestPay\n", ""},
		{change + "+\tif (o.count) > limit {\ntest shop TestSum\n", `promise "A paid order is not paid again." is broken, and TestSum passes`},
		{change + "+\tif {\ntest shop TestPay\n", "syntax error"},
		{"It ends.\nfile shop/shop.go\n-\treturn\n+\tpanic(1)\ntest shop TestPay\n", "has the text 0 times, not once"},
	} {
		promises, err := readPromises(list(t, c.text))
		require.NoError(t, err)
		require.Len(t, promises, 1)
		var out bytes.Buffer
		o := options{root: abs(t, "testdata/module"), workers: 1, out: &out}
		err = o.breakPromises(t.Context(), t.TempDir(), "promises", promises)
		if c.err == "" {
			require.NoError(t, err)
			require.Contains(t, out.String(), "promises: each of 1 changes fails its test")
			continue
		}
		require.ErrorContains(t, err, c.err)
	}
	_, err := readPromises(list(t, change))
	require.ErrorContains(t, err, "needs a promise, a file, a change and a test")
}

// TestOwnLists requires that each change in the lists of this repository is to code that
// exists once.
func TestOwnLists(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"promises": 12, "bugs": 5} {
		list, err := readPromises(name + ".txt")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(list), least)
		for _, p := range list {
			text, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(p.file)))
			require.NoError(t, err)
			require.Equalf(t, 1, bytes.Count(text, []byte(p.old)), "%s: %s", p.file, p.old)
		}
	}
}

func list(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
