package media_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

const secret = "a secret of thirty-two characters"

// stores runs fn with each kind of store.
func stores(t *testing.T, fn func(t *testing.T, store media.Store)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		folder, _ := newFolder(t)
		fn(t, folder)
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		fn(t, newBucket(t, testkit.S3Server(t)))
	})
}

func newFolder(t testing.TB) (*media.Folder, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "media")
	folder, err := media.OpenFolder(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close()) })
	return folder, path
}

func keys() *s3.Options { return &s3.Options{AccessKey: testkit.S3Access, SecretKey: testkit.S3Secret} }

func newBucket(t testing.TB, server *testkit.S3) *s3.Bucket {
	t.Helper()
	b, err := s3.Open(t.Context(), server.URL("media/"), keys())
	require.NoError(t, err)
	return b
}

func newLibrary(t testing.TB, store media.Store) *media.Library {
	t.Helper()
	lib, err := media.New(store, &media.Options{Secrets: []string{secret}, NoPrograms: true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	require.NoError(t, err)
	return lib
}

// save keeps content in lib.
func save(t testing.TB, lib *media.Library, content []byte) media.File {
	t.Helper()
	f, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{})
	require.NoError(t, err)
	return f
}

func newID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	return id.String()
}

// files returns the paths of the files below dir, drafts included.
func files(t testing.TB, dir string) []string {
	t.Helper()
	found := []string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, strings.TrimPrefix(path, dir+string(os.PathSeparator)))
		}
		return err
	}))
	return found
}
