package destination_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// destinations calls fn with each kind of destination, which is empty, and the path
// of a file of each of its names.
func destinations(t *testing.T, fn func(t *testing.T, d destination.Destination, file func(name string) string)) {
	t.Helper()
	server := testkit.S3Server(t)
	t.Setenv("AWS_ACCESS_KEY_ID", testkit.S3Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testkit.S3Secret)
	folder := filepath.Join(t.TempDir(), "is", "made")
	for kind, c := range map[string]struct{ address, folder string }{
		"folder": {folder, folder},
		"bucket": {server.URL("nightly/"), filepath.Join(server.Folder, "bucket", "nightly")},
	} {
		t.Run(kind, func(t *testing.T) {
			d, err := destination.Open(t.Context(), c.address)
			require.NoError(t, err)
			fn(t, d, func(name string) string { return filepath.Join(c.folder, name) })
		})
	}
}

// put keeps a text under a name.
func put(t *testing.T, d destination.Destination, name, text string) {
	t.Helper()
	file, err := d.Create()
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, d.Put(t.Context(), name, file.Name()))
	_ = os.Remove(file.Name())
}

func list(t *testing.T, d destination.Destination) []string {
	t.Helper()
	names, err := d.List(t.Context())
	require.NoError(t, err)
	return names
}

func TestDestination(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	first, second, third := destination.Name(noon), destination.Name(noon.Add(time.Second)), destination.Name(noon.AddDate(0, 1, 0))
	destinations(t, func(t *testing.T, d destination.Destination, file func(string) string) {
		require.Empty(t, list(t, d))
		put(t, d, third, "the third")
		put(t, d, first, "the first")
		put(t, d, second, "the second")
		put(t, d, "notes.txt", "not a backup")
		require.Equal(t, []string{first, second, third}, list(t, d))
		require.FileExists(t, file(first))

		path, done, err := d.Fetch(t.Context(), second)
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "the second", string(text))
		done()
		require.FileExists(t, file(second), "it is still kept")
		if path != file(second) {
			require.NoFileExists(t, path)
		}
		_, _, err = d.Fetch(t.Context(), destination.Name(noon.Add(time.Hour)))
		require.ErrorIs(t, err, destination.ErrNotFound)

		require.NoError(t, destination.Prune(t.Context(), d, 3))
		require.Len(t, list(t, d), 3)
		require.NoError(t, destination.Prune(t.Context(), d, 1))
		require.Equal(t, []string{third}, list(t, d))
		require.NoFileExists(t, file(first))
		require.FileExists(t, file("notes.txt"))
		require.NoError(t, d.Delete(t.Context(), first), "it is gone already")

		for _, name := range []string{"", "..", "../" + first, `..\` + first} {
			require.Error(t, d.Put(t.Context(), name, "x"))
			require.Error(t, d.Delete(t.Context(), name))
			_, _, err = d.Fetch(t.Context(), name)
			require.Error(t, err)
		}
	})
}

// TestLargeBackup sends a file in parts.
func TestLargeBackup(t *testing.T) {
	destinations(t, func(t *testing.T, d destination.Destination, _ func(string) string) {
		content := make([]byte, 40<<20)
		for i := range content {
			content[i] = byte(i >> 12)
		}
		name := destination.Name(time.Now())
		put(t, d, name, string(content))
		path, done, err := d.Fetch(t.Context(), name)
		require.NoError(t, err)
		defer done()
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, sha256.Sum256(content), sha256.Sum256(got), "%d bytes of %d", len(got), len(content))
	})
}

// TestAbandoned removes what killed processes have left in a folder, but nothing that
// may still be written to.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, recent, other := filepath.Join(dir, ".trunkline-1"), filepath.Join(dir, ".trunkline-2"), filepath.Join(dir, "notes.txt")
	for _, path := range []string{old, recent, other} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	for _, path := range []string{old, other} {
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-25*time.Hour)))
	}
	d, err := destination.Open(t.Context(), dir)
	require.NoError(t, err)
	put(t, d, destination.Name(time.Now()), "x")
	require.NoFileExists(t, old)
	require.FileExists(t, recent)
	require.FileExists(t, other)
}

func TestNames(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 7, 25, 9, 999, time.FixedZone("", 3600))
	require.Equal(t, "2026-11-28T062509Z.trunkline", destination.Name(at))
	got, ok := destination.Time("2026-11-28T062509Z.trunkline")
	require.True(t, ok)
	require.Equal(t, at.Truncate(time.Second).UTC(), got)
	for _, name := range []string{"", "monday.trunkline", "2026-11-28T062509Z", "2026-11-28T062509Z.zip", "2026-13-28T062509Z.trunkline"} {
		_, ok = destination.Time(name)
		require.False(t, ok, name)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for address, why := range map[string]string{
		file:                     "not a directory",
		"s3://":                  "names no bucket",
		"s3://bucket?key=secret": `has a parameter that is unknown: "key"`,
		"s3://a:b@bucket":        "must not hold keys",
	} {
		_, err := destination.Open(t.Context(), address)
		require.ErrorContains(t, err, why)
		require.NotContains(t, err.Error(), "secret")
	}
}
