package media_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
)

func TestServe(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, store media.Store) {
		lib := newLibrary(t, store)
		content := string(pngFile(120, 90))
		require.Greater(t, len(content), 10_000)
		f := save(t, lib, []byte(content))
		link := lib.Link(f.ID, "São Paulo.png")

		w := get(lib, link)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, content, w.Body.String())
		h := w.Result().Header
		etag := h.Get("ETag")
		require.NotEmpty(t, etag)
		require.Regexp(t, `^\d+$`, h.Get("Content-Length"))
		h.Del("Content-Length")
		h.Del("ETag")
		require.Equal(t, http.Header{
			"Accept-Ranges":                {"bytes"},
			"Cache-Control":                {"private, no-cache"},
			"Content-Disposition":          {"inline; filename*=utf-8''S%C3%A3o%20Paulo.png"},
			"Content-Security-Policy":      {"sandbox; default-src 'none'"},
			"Content-Type":                 {"image/png"},
			"Cross-Origin-Resource-Policy": {"cross-origin"},
			"X-Content-Type-Options":       {"nosniff"},
		}, h)

		for name, c := range map[string]struct {
			headers []string
			code    int
			body    string
			ranges  string
		}{
			"start":       {[]string{"Range", "bytes=0-9"}, 206, content[:10], "bytes 0-9/"},
			"middle":      {[]string{"Range", "bytes=5000-5009"}, 206, content[5000:5010], "bytes 5000-5009/"},
			"end":         {[]string{"Range", "bytes=-10"}, 206, content[len(content)-10:], "bytes "},
			"over a head": {[]string{"Range", "bytes=4000-4999"}, 206, content[4000:5000], "bytes 4000-4999/"},
			"beyond":      {[]string{"Range", "bytes=99999999-"}, 416, "", "bytes */"},
			"same":        {[]string{"If-None-Match", etag}, 304, "", ""},
			"if range":    {[]string{"Range", "bytes=0-9", "If-Range", etag}, 206, content[:10], "bytes 0-9/"},
			"other range": {[]string{"Range", "bytes=0-9", "If-Range", `"other"`}, 200, content, ""},
		} {
			w := get(lib, link, c.headers...)
			require.Equal(t, c.code, w.Code, name)
			require.True(t, strings.HasPrefix(w.Header().Get("Content-Range"), c.ranges), name)
			if c.code != http.StatusRequestedRangeNotSatisfiable {
				require.Equal(t, c.body, w.Body.String(), name)
			}
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), name)
		}

		r := httptest.NewRequest(http.MethodHead, "/"+link, nil)
		w = httptest.NewRecorder()
		lib.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code)
		require.Empty(t, w.Body.String())
		require.Equal(t, "image/png", w.Header().Get("Content-Type"))
	})
}

// A browser shows what is a picture, audio or video by its own bytes, whatever
// it is called, and downloads the rest under a type that it does not run.
func TestServedAs(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib := newLibrary(t, folder)
	for name, c := range map[string]struct {
		content     string
		served      string
		disposition string
	}{
		"jpeg":             {string(jpegFile(1, 1)), "image/jpeg", "inline"},
		"webp":             {string(webpFile()), "image/webp", "inline"},
		"gif":              {string(gifFile(1, 1)), "image/gif", "inline"},
		"opus":             {string(opusFile(48000)), "audio/ogg", "inline"},
		"unknown ogg":      {string(oggPage(1, 0, []byte("something"))), "audio/ogg", "inline"},
		"mp3":              {string(mp3File(2)), "audio/mpeg", "inline"},
		"amr":              {string(amrFile(2)), "audio/amr", "inline"},
		"mp4":              {string(mp4File("isom", 1)), "video/mp4", "inline"},
		"m4a":              {string(mp4File("M4A ", 1)), "audio/mp4", "inline"},
		"3gp":              {string(mp4File("3gp4", 1)), "video/3gpp", "inline"},
		"pdf":              {string(pdfFile(1)), "application/pdf", "attachment"},
		"svg":              {svgFile, "application/octet-stream", "attachment"},
		"html":             {htmlFile, "application/octet-stream", "attachment"},
		"xml":              {"<?xml version='1.0'?><a/>", "application/octet-stream", "attachment"},
		"text":             {"alert(1)", "application/octet-stream", "attachment"},
		"unknown":          {"\x00\x01\x02", "application/octet-stream", "attachment"},
		"html in a jpeg":   {string(jpegFile(1, 1)) + htmlFile, "image/jpeg", "inline"},
		"jpeg far in html": {htmlFile + string(jpegFile(1, 1)), "application/octet-stream", "attachment"},
	} {
		f := save(t, lib, []byte(c.content))
		w := get(lib, lib.Link(f.ID, "photo.jpg"))
		require.Equal(t, http.StatusOK, w.Code, name)
		require.Equal(t, c.served, w.Header().Get("Content-Type"), name)
		require.Equal(t, c.disposition+"; filename=photo.jpg", w.Header().Get("Content-Disposition"), name)
	}
}

func TestNotFoundHandler(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib, err := media.New(folder, &media.Options{Secrets: []string{secret}, NotFound: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})})
	require.NoError(t, err)
	require.Equal(t, http.StatusTeapot, get(lib, "files/x").Code)
	require.Equal(t, http.StatusTeapot, get(lib, lib.Link(newID(t), "a")).Code)
}

// A store that fails does not mean that the file is missing.
func TestServeFails(t *testing.T) {
	t.Parallel()
	server := testkit.S3Server(t)
	lib := newLibrary(t, newBucket(t, server))
	f := save(t, lib, pngFile(200, 200))
	server.Stop()
	w := get(lib, lib.Link(f.ID, "a.png"))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "5", w.Header().Get("Retry-After"))
	require.NotContains(t, w.Body.String(), "127.0.0.1")

	for name, obj := range map[string]failing{
		"on the first read": {readErr: io.ErrClosedPipe}, "on seeking": {seekErr: io.ErrClosedPipe},
	} {
		lib := newLibrary(t, failingStore{obj: obj})
		require.Equal(t, http.StatusServiceUnavailable, get(lib, lib.Link(newID(t), "a")).Code, name)
	}
}

type failingStore struct {
	media.Store
	obj failing
}

func (s failingStore) Open(context.Context, string) (media.Object, error) { return s.obj, nil }

type failing struct{ readErr, seekErr error }

func (f failing) Read(p []byte) (int, error) {
	if f.readErr != nil {
		return 0, f.readErr
	}
	return len(p), nil
}
func (f failing) Seek(int64, int) (int64, error) { return 0, f.seekErr }
func (f failing) Close() error                   { return errors.New("closed") }
func (f failing) Size() int64                    { return 1 << 20 }
