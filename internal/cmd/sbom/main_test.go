package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSBOM describes this test, twice in the same words.
func TestSBOM(t *testing.T) {
	t.Parallel()
	var out, again bytes.Buffer
	require.NoError(t, run([]string{"1.2.3", os.Args[0]}, &out))
	require.NoError(t, run([]string{"1.2.3", os.Args[0]}, &again))
	require.Equal(t, out.String(), again.String())
	var b bom
	require.NoError(t, json.Unmarshal(out.Bytes(), &b))
	require.Equal(t, "CycloneDX", b.Format)
	require.Equal(t, "pkg:golang/github.com/trunklinehq/trunkline@v1.2.3", b.Metadata.Component.PURL)
	require.Equal(t, "std", b.Components[0].Name)

	require.Error(t, run([]string{"1.2.3"}, &out))
	require.ErrorContains(t, run([]string{"1.2.3", "main.go"}, &out), "reading what the program was built of")
}

// TestModules lists the modules of a program, including replacements.
func TestModules(t *testing.T) {
	t.Parallel()
	b := document("1", &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0+incompatible", Sum: "h1:AAECAw=="},
		{Path: "example.org/b", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0"}},
	}})
	require.Equal(t, []component{
		{"library", "pkg:golang/std@1.26.0", "std", "1.26.0", "pkg:golang/std@1.26.0", nil},
		{
			"library", "pkg:golang/example.org/a@v1.0.0%2Bincompatible", "example.org/a", "v1.0.0+incompatible",
			"pkg:golang/example.org/a@v1.0.0%2Bincompatible",
			[]sum{{"SHA-256", "00010203"}},
		},
		{"library", "pkg:golang/example.org/c@v2.0.0", "example.org/c", "v2.0.0", "pkg:golang/example.org/c@v2.0.0", nil},
	}, b.Components)
}
