package media_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

func TestFolderLayout(t *testing.T) {
	t.Parallel()
	folder, path := newFolder(t)
	id := newID(t)
	require.NoError(t, folder.Put(t.Context(), id, strings.NewReader("x"), 1))
	require.Equal(t, []string{filepath.Join(id[34:], id)}, files(t, path))
	info, err := os.Stat(filepath.Join(path, id[34:], id))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A symbolic link in the folder is not followed.
func TestFolderIsNotLeft(t *testing.T) {
	t.Parallel()
	folder, path := newFolder(t)
	outside := filepath.Join(filepath.Dir(path), "outside")
	require.NoError(t, os.Mkdir(outside, 0o700))
	id := newID(t)
	require.NoError(t, os.WriteFile(filepath.Join(outside, id), []byte("password"), 0o600))

	require.NoError(t, os.Symlink(outside, filepath.Join(path, id[34:])))
	_, err := folder.Open(t.Context(), id)
	require.Error(t, err)
	require.Error(t, folder.Put(t.Context(), id, strings.NewReader("x"), 1))
	require.Error(t, folder.Delete(t.Context(), id))
	require.Equal(t, []string{id}, files(t, outside))

	require.NoError(t, os.Remove(filepath.Join(path, id[34:])))
	require.NoError(t, os.Mkdir(filepath.Join(path, id[34:]), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(outside, id), filepath.Join(path, id[34:], id)))
	_, err = folder.Open(t.Context(), id)
	require.Error(t, err)
}

func TestOpenFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := media.OpenFolder(file)
	require.ErrorContains(t, err, "making the media folder")

	path := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		folder, err := media.OpenFolder(path)
		require.NoError(t, err)
		require.NoError(t, folder.Close())
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	folder, path := newFolder(t)
	id := newID(t)
	require.NoError(t, folder.Put(t.Context(), id, strings.NewReader("x"), 1))
	old, fresh := filepath.Join(path, "tmp", "OLD"), filepath.Join(path, "tmp", "FRESH")
	for _, name := range []string{old, fresh} {
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	past := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(old, past, past))
	require.NoError(t, os.Chtimes(filepath.Join(path, id[34:], id), past, past))

	n, err := folder.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.ElementsMatch(t, []string{filepath.Join(id[34:], id), filepath.Join("tmp", "FRESH")}, files(t, path))
}

func TestRunSweeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder, path := newFolder(t)
		old := filepath.Join(path, "tmp", "OLD")
		require.NoError(t, os.WriteFile(old, []byte("half"), 0o600))
		past := time.Now().Add(-2 * time.Hour)
		require.NoError(t, os.Chtimes(old, past, past))
		run(t, newLibrary(t, folder))
		synctest.Wait()
		require.Empty(t, files(t, path))
	})
}

// A store that leaves nothing behind needs no sweep.
func TestRunWithoutSweep(t *testing.T) {
	t.Parallel()
	run(t, newLibrary(t, struct{ media.Store }{}))
}

// run runs lib until the test ends, without an error.
func run(t *testing.T, lib *media.Library) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- lib.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	for _, opts := range []*media.Options{nil, {}, {Secrets: []string{"short"}}} {
		_, err := media.New(folder, opts)
		require.ErrorContains(t, err, "media: Options.Secrets")
	}
}

func TestOpenAndDelete(t *testing.T) {
	t.Parallel()
	folder, path := newFolder(t)
	lib := newLibrary(t, folder)
	content := bytes.Repeat([]byte("abc"), 1000)
	f := save(t, lib, content)
	require.Equal(t, string(content), read(t, folder, f.ID))
	obj, err := lib.Open(t.Context(), f.ID)
	require.NoError(t, err)
	require.NoError(t, obj.Close())
	for _, id := range []string{"../x", newID(t)} {
		_, err := lib.Open(t.Context(), id)
		require.ErrorIs(t, err, media.ErrNotFound)
		require.NoError(t, lib.Delete(t.Context(), id))
	}
	require.NoError(t, lib.Delete(t.Context(), f.ID))
	require.Empty(t, files(t, path))
}

func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, err := media.OpenFolder(dir)
	require.NoError(t, err)
	library, err := media.New(folder, &media.Options{Secrets: []string{"a secret for tests of 32 bytes and more"}})
	require.NoError(t, err)
	require.NoError(t, library.Room(t.Context(), 100_000))
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	require.NoError(t, err)
	require.Empty(t, left, "the draft is removed")
	require.NoError(t, folder.Close())
	require.Error(t, library.Room(t.Context(), 1))

	remote, err := media.New(struct{ media.Store }{folder}, &media.Options{Secrets: []string{"a secret for tests of 32 bytes and more"}, Temp: dir})
	require.NoError(t, err)
	require.NoError(t, remote.Room(t.Context(), 100_000), "of the folder for temporary files")
	require.NoError(t, os.RemoveAll(dir))
	require.Error(t, remote.Room(t.Context(), 1))
}
