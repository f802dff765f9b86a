package media_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// Requirements of all stores.
func TestStore(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, store media.Store) {
		t.Run("kept", func(t *testing.T) { kept(t, store) })
		t.Run("replaced", func(t *testing.T) { replaced(t, store) })
		t.Run("deleted", func(t *testing.T) { deleted(t, store) })
		t.Run("whole or not at all", func(t *testing.T) { whole(t, store) })
		t.Run("ids", func(t *testing.T) { ids(t, store) })
		t.Run("together", func(t *testing.T) { together(t, store) })
	})
}

func kept(t *testing.T, store media.Store) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 300_000} {
		id, content := newID(t), make([]byte, size)
		_, err := rand.Read(content)
		require.NoError(t, err)
		require.NoError(t, store.Put(t.Context(), id, bytes.NewReader(content), int64(size)))
		n, err := store.Size(t.Context(), id)
		require.NoError(t, err)
		require.EqualValues(t, size, n)

		obj, err := store.Open(t.Context(), id)
		require.NoError(t, err)
		require.EqualValues(t, size, obj.Size())
		require.NoError(t, iotest.TestReader(obj, content), "%d bytes", size)
		for _, from := range []int64{0, 10, 4090, 200_000} {
			if from > int64(size) {
				continue
			}
			_, err := obj.Seek(from, io.SeekStart)
			require.NoError(t, err)
			got, err := io.ReadAll(io.LimitReader(obj, 100))
			require.NoError(t, err)
			require.Equal(t, content[from:min(from+100, int64(size))], got)
		}
		require.NoError(t, obj.Close())
	}
}

func replaced(t *testing.T, store media.Store) {
	id := newID(t)
	require.NoError(t, store.Put(t.Context(), id, strings.NewReader("a longer text"), 13))
	require.NoError(t, store.Put(t.Context(), id, strings.NewReader("short"), 5))
	require.Equal(t, "short", read(t, store, id))
}

func deleted(t *testing.T, store media.Store) {
	id := newID(t)
	require.NoError(t, store.Put(t.Context(), id, strings.NewReader("x"), 1))
	require.NoError(t, store.Delete(t.Context(), id))
	require.NoError(t, store.Delete(t.Context(), id), "again")
	_, err := store.Open(t.Context(), id)
	require.ErrorIs(t, err, media.ErrNotFound)
	_, err = store.Size(t.Context(), id)
	require.ErrorIs(t, err, media.ErrNotFound)
}

func whole(t *testing.T, store media.Store) {
	broken := errors.New("the line broke")
	for name, r := range map[string]io.Reader{
		"cut":    strings.NewReader("half"),
		"broken": io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)),
	} {
		id := newID(t)
		require.Error(t, store.Put(t.Context(), id, r, 8), name)
		_, err := store.Size(t.Context(), id)
		require.ErrorIs(t, err, media.ErrNotFound, name)
	}
}

func ids(t *testing.T, store media.Store) {
	good := newID(t)
	for _, id := range []string{
		"", ".", "..", "../" + good, good + "/..", "/etc/passwd", strings.ToUpper(good), good + "\n", good + "\x00", good[:35],
		strings.Repeat("a", 36), `..\` + good, "tmp/x",
	} {
		require.Error(t, store.Put(t.Context(), id, strings.NewReader("x"), 1), "%q", id)
		_, err := store.Open(t.Context(), id)
		require.Error(t, err, "%q", id)
		_, err = store.Size(t.Context(), id)
		require.Error(t, err, "%q", id)
		require.Error(t, store.Delete(t.Context(), id), "%q", id)
	}
}

// together writes one file concurrently: one of the writers wins completely.
func together(t *testing.T, store media.Store) {
	id := newID(t)
	var g errgroup.Group
	for i := range 8 {
		content := strings.Repeat(string(rune('a'+i)), 50_000)
		g.Go(func() error { return store.Put(t.Context(), id, strings.NewReader(content), int64(len(content))) })
	}
	require.NoError(t, g.Wait())
	got := read(t, store, id)
	assert.Len(t, got, 50_000)
	assert.Equal(t, strings.Repeat(got[:1], 50_000), got)
}

func read(t *testing.T, store media.Store, id string) string {
	t.Helper()
	obj, err := store.Open(t.Context(), id)
	require.NoError(t, err)
	defer obj.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(obj)
	require.NoError(t, err)
	return string(b)
}
