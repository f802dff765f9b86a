package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// folder returns one with a program and a page, made at another time each.
func folder(t *testing.T, at time.Time) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trunkline_1.2.3")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o700))
	for name, mode := range map[string]os.FileMode{"trunkline": 0o700, "README.md": 0o600, "docs/flows.md": 0o640} {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(filepath.Base(name)), mode))
		require.NoError(t, os.Chtimes(name, at, at))
	}
	return dir
}

// TestSameBytes packs two folders that hold the same into archives that are the
// same, and hold what was there.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	const seconds = "1700000001"
	want := map[string]os.FileMode{"trunkline_1.2.3/README.md": 0o644, "trunkline_1.2.3/docs/flows.md": 0o644, "trunkline_1.2.3/trunkline": 0o755}
	for name, read := range map[string]func(*testing.T, string) map[string]os.FileMode{"x.tar.gz": readTar, "x.zip": readZip} {
		var all []string
		for _, at := range []time.Time{time.Now(), time.Unix(1, 0)} {
			file := filepath.Join(t.TempDir(), name)
			require.NoError(t, run([]string{folder(t, at), file, seconds}))
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			all = append(all, string(b))
			require.Equal(t, want, read(t, file))
		}
		require.Equal(t, all[0], all[1], name)
	}
}

func readTar(t *testing.T, name string) map[string]os.FileMode {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	out := map[string]os.FileMode{}
	for from := tar.NewReader(z); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		require.EqualValues(t, 1700000001, h.ModTime.Unix())
		text, err := io.ReadAll(from)
		require.NoError(t, err)
		require.Equal(t, filepath.Base(h.Name), string(text))
		out[h.Name] = h.FileInfo().Mode()
	}
}

func readZip(t *testing.T, name string) map[string]os.FileMode {
	t.Helper()
	z, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer z.Close() //nolint:errcheck // it was only read
	out := map[string]os.FileMode{}
	for _, f := range z.File {
		require.EqualValues(t, 1700000001, f.Modified.Unix())
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, filepath.Base(f.Name), string(text))
		out[f.Name] = f.Mode()
	}
	return out
}

// TestPackRefused says what is wrong.
func TestPackRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t, time.Now())
	require.ErrorContains(t, run(nil), "give the folder")
	require.ErrorContains(t, run([]string{dir, "x.zip", "now"}), "the time")
	require.ErrorContains(t, run([]string{dir, "x.rar", "1"}), ".zip or a .tar.gz")
	require.Error(t, run([]string{dir + "x", filepath.Join(t.TempDir(), "x.zip"), "1"}))
	require.NoError(t, os.Symlink("README.md", filepath.Join(dir, "link")))
	require.ErrorContains(t, run([]string{dir, filepath.Join(t.TempDir(), "x.zip"), "1"}), "is not a file")
}
