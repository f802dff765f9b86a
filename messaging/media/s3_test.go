package media_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

func TestBucketPrefix(t *testing.T) {
	t.Parallel()
	server := testkit.S3Server(t)
	b := newBucket(t, server)
	id := newID(t)
	require.NoError(t, b.Put(t.Context(), id, strings.NewReader("x"), 1))
	require.FileExists(t, filepath.Join(server.Folder, "bucket", "media", id))
}

func TestBucketRefuses(t *testing.T) {
	t.Parallel()
	server := testkit.S3Server(t)
	_, err := s3.Open(t.Context(), strings.Replace(server.URL(""), "s3://bucket", "s3://another", 1), keys())
	require.ErrorContains(t, err, "s3: there is no bucket another")
	_, err = s3.Open(t.Context(), server.URL(""), &s3.Options{AccessKey: testkit.S3Access, SecretKey: "a-wrong-secret"})
	require.ErrorContains(t, err, "s3: looking for bucket bucket")
	require.NotContains(t, err.Error(), "a-wrong-secret")
}

// Only a file that is missing is not found; any other answer is an error.
func TestBucketAnswers(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{"NoSuchKey": 404, "NoSuchBucket": 404, "AccessDenied": 403} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bucket/" {
				return // it is there
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}))
		t.Cleanup(server.Close)
		b, err := s3.Open(t.Context(), "s3://bucket?endpoint="+server.URL, keys())
		require.NoError(t, err)
		id := newID(t)
		_, err = b.Open(t.Context(), id)
		require.Error(t, err)
		require.Equal(t, code == "NoSuchKey", errors.Is(err, media.ErrNotFound), code)
		err = b.Delete(t.Context(), id)
		require.Equal(t, code == "NoSuchKey", err == nil, code)
		require.Error(t, b.Put(t.Context(), id, strings.NewReader("x"), 1), code)
	}
}

// Another version that appears while a file is read is not mixed into it.
func TestBucketVersion(t *testing.T) {
	t.Parallel()
	b := newBucket(t, testkit.S3Server(t))
	id := newID(t)
	require.NoError(t, b.Put(t.Context(), id, strings.NewReader(strings.Repeat("a", 9000)), 9000))
	obj, err := b.Open(t.Context(), id)
	require.NoError(t, err)
	defer obj.Close() //nolint:errcheck // only read
	require.NoError(t, b.Put(t.Context(), id, strings.NewReader(strings.Repeat("b", 9000)), 9000))
	_, err = obj.Seek(8000, 0)
	require.NoError(t, err)
	_, err = obj.Read(make([]byte, 10))
	require.ErrorContains(t, err, "reading file "+id)
}
