package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLicences prints those of the program twice, in the same words: each
// module that it links has one, and so have the parts that are embedded.
func TestLicences(t *testing.T) {
	t.Parallel()
	args := []string{"linux/amd64", "github.com/trunklinehq/trunkline/server/cmd/trunkline"}
	var out, again bytes.Buffer
	require.NoError(t, run(args, &out))
	require.NoError(t, run(args, &again))
	require.True(t, bytes.Equal(out.Bytes(), again.Bytes()))
	for _, want := range []string{
		rule + "Go: LICENSE\n" + rule + "\nCopyright 2009 The Go Authors.",
		rule + "modernc.org/sqlite v", rule + "go.mau.fi/whatsmeow v", "Mozilla Public License Version 2.0",
		"github.com/trunklinehq/trunkline: server/internal/pages/swagger/LICENSE\n", "github.com/trunklinehq/trunkline: server/internal/pages/swagger/bundle-licenses.txt\n",
		"github.com/trunklinehq/trunkline: server/panel/dist/licenses.md\n",
	} {
		require.True(t, strings.Contains(out.String(), want), "there is no %q", want) //nolint:testifylint // a failure would print it all
	}
	for _, none := range []string{rule + "github.com/stretchr/testify", "trunkline: LICENSE"} { // tests are not linked, and our own licence is separate
		require.False(t, strings.Contains(out.String(), none), none) //nolint:testifylint // as above
	}
}

// TestLicencesOfTags has the licence of libsignal only where the program links it.
func TestLicencesOfTags(t *testing.T) {
	t.Parallel()
	const libsignal = rule + "go.mau.fi/libsignal v"
	for tags, want := range map[string]bool{"": true, "noweb": false} {
		var out bytes.Buffer
		require.NoError(t, run([]string{"linux/amd64", "github.com/trunklinehq/trunkline/server/cmd/trunkline", tags}, &out))
		require.Equal(t, want, strings.Contains(out.String(), libsignal), tags)
		require.Equal(t, want, strings.Contains(out.String(), "GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007"), tags)
		require.Equal(t, want, strings.Contains(out.String(), "go.mau.fi/"), tags)
	}
}

// TestLicencesRefused says what is wrong.
func TestLicencesRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(nil, nil), "give the platform and the package")
	require.ErrorContains(t, run([]string{"linux", "x"}, nil), "OS/ARCH")
	require.ErrorContains(t, run([]string{"linux/amd64", "./none"}, nil), "listing the packages")

	dir := t.TempDir()
	p := pkg{Dir: filepath.Join(dir, "below")}
	p.Module = &struct {
		Path, Version, Dir string
		Main               bool
	}{Path: "example.org/a", Version: "v1.0.0", Dir: dir}
	require.NoError(t, os.Mkdir(p.Dir, 0o700))
	_, err := partsOf([]pkg{p})
	require.ErrorContains(t, err, "example.org/a v1.0.0 has no licence in ")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "license.go"), nil, 0o600))
	_, err = partsOf([]pkg{p})
	require.Error(t, err, "that is code")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENCE.md"), []byte("\nFree.\n"), 0o600))
	parts, err := partsOf([]pkg{p})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, parts[0].print(&out))
	require.Equal(t, rule+"example.org/a v1.0.0: LICENCE.md\n"+rule+"\nFree.\n\n", out.String())
}
