package main

import (
	"bytes"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/outcomes.txt")

// shop is the package in testdata.
var shop = subject{"shop", []string{"shop"}, []suite{{"shop", "Test(Sum|Pay|Broken)"}, {"shop", "Test(Check|Wait|Share)"}}}

// TestMutants runs all mutants of a package that has a place for each operator:
// all compile, and each has the outcome of its line in testdata/outcomes.txt.
func TestMutants(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := options{root: abs(t, "testdata/module"), subjects: []string{"shop"}, atLeast: 50, workers: 2, budget: time.Minute, verbose: true, out: &out}
	require.NoError(t, o.run(t.Context(), []subject{shop}))
	got := out.String()
	summary := strings.Index(got, "shop: 5")
	require.Positive(t, summary, got)
	if *update {
		require.NoError(t, os.WriteFile("testdata/outcomes.txt", []byte(got[:summary]), 0o600))
	}
	want, err := os.ReadFile("testdata/outcomes.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), got[:summary])
	require.Contains(t, got, "by one that did not end; ")

	o = options{root: o.root, subjects: []string{"shop"}, atLeast: 90, sample: 20, seed: 1, workers: 2, budget: time.Minute, out: &out}
	require.ErrorContains(t, o.run(t.Context(), []subject{shop}), "90.0 % are required")
	o.subjects = []string{"market"}
	require.EqualError(t, o.run(t.Context(), []subject{shop}), "there is no subject market")
}

// TestSample chooses the same points of a larger number.
func TestSample(t *testing.T) {
	t.Parallel()
	all := shopPoints(t)
	keys := func(points []*point) (keys []string) {
		for _, p := range points {
			keys = append(keys, p.key())
		}
		return keys
	}
	few, more := sample(all, 10, 1), sample(all, 20, 1)
	require.Len(t, few, 10)
	require.Subset(t, keys(more), keys(few))
	require.NotEqual(t, keys(few), keys(sample(all, 10, 2)))
	require.Equal(t, all, sample(all, 0, 1))
}

// TestRewrite nests the choices of several mutants, and keeps the lines.
func TestRewrite(t *testing.T) {
	t.Parallel()
	files := shopFiles(t)
	all := points(files)
	for i, p := range all {
		p.id = i + 1
	}
	text := string(rewrite(files[0].text, all))
	_, err := parser.ParseFile(token.NewFileSet(), "shop.go", text, 0)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(files[0].text), "\n"), strings.Count(text, "\n"))

	of := func(operator, text string) []*point {
		for _, p := range all {
			if p.operator == operator && p.text == text {
				p.id = 7
				return []*point{p}
			}
		}
		require.Fail(t, "there is no such point", text)
		return nil
	}
	for _, c := range []struct{ operator, text, want string }{
		{opLogic, "o.count < 1 && !o.paid", "if ((((o.count < 1) != mutantOn(7)) && ((!o.paid) != mutantOn(7))) != mutantOn(7)) {"},
		{opBoundary, "o.count < 1", "if mutantLess(7, o.count , 1) && !o.paid {"},
		{opNegate, "!o.paid", "if o.count < 1 && ((!o.paid) != mutantOn(7)) {"},
		{opError, "return errEmpty", "return mutantNil(7, errEmpty)"},
		{opRemove, "o.count++", "if !mutantOn(7) { o.count++ }"},
		{opNumber, "5", "time.Second + mutantNext(7, time.Duration(5))*time.Millisecond"},
		{opMath, "total + of(list[i])", "total = mutantPlus(7, total , of(list[i]))"},
	} {
		require.Contains(t, string(rewrite(files[0].text, of(c.operator, c.text))), c.want)
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

func shopFiles(t *testing.T) []*source {
	t.Helper()
	files, err := load(t.Context(), abs(t, "testdata/module"), shop.packages)
	require.NoError(t, err)
	return files
}

func shopPoints(t *testing.T) []*point {
	t.Helper()
	return points(shopFiles(t))
}
