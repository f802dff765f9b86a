package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

func TestSave(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, store media.Store) {
		lib := newLibrary(t, store)
		content := jpegFile(40, 30)
		sum := sha256.Sum256(content)
		f, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{
			Max: int64(len(content)), Size: int64(len(content)), SHA256: sum[:], Type: "image/jpeg",
		})
		require.NoError(t, err)
		require.NoError(t, media.CheckID(f.ID))
		require.NotEmpty(t, f.JPEGThumbnail)
		f.JPEGThumbnail = ""
		require.Equal(t, media.File{
			ID: f.ID, Type: "image/jpeg", Size: int64(len(content)), SHA256: sum[:], Info: media.Info{Width: 40, Height: 30},
		}, f)
		require.Equal(t, string(content), read(t, store, f.ID))

		again, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{ID: f.ID})
		require.NoError(t, err, "a fetch that is repeated")
		require.Equal(t, f.ID, again.ID)
	})
}

func TestSaveRefuses(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	folder, path := newFolder(t)
	inFolder := newLibrary(t, folder)
	elsewhere, err := media.New(struct{ media.Store }{folder}, &media.Options{Secrets: []string{secret}, Temp: temp})
	require.NoError(t, err)
	broken := errors.New("the line broke")
	ten := "0123456789"
	wrong := sha256.Sum256([]byte("another"))
	tooLarge, mismatch := new(*media.TooLarge), new(*media.Mismatch)
	for name, c := range map[string]struct {
		r    func() io.Reader
		up   media.Upload
		as   any
		is   error
		says string
	}{
		"one byte more":     {func() io.Reader { return strings.NewReader(ten) }, media.Upload{Max: 9}, tooLarge, nil, "larger than 9 bytes"},
		"without end":       {func() io.Reader { return endless{} }, media.Upload{Max: 1 << 20}, tooLarge, nil, "larger than 1048576 bytes"},
		"promised too much": {func() io.Reader { return iotest.ErrReader(broken) }, media.Upload{Max: 9, Size: 10}, tooLarge, nil, "larger than 9 bytes"},
		"cut":               {func() io.Reader { return strings.NewReader(ten) }, media.Upload{Size: 11}, mismatch, nil, "size: promised 11, got 10"},
		"longer":            {func() io.Reader { return strings.NewReader(ten) }, media.Upload{Size: 9}, mismatch, nil, "size: promised 9, got 10"},
		"other bytes":       {func() io.Reader { return strings.NewReader(ten) }, media.Upload{SHA256: wrong[:]}, mismatch, nil, "sha256: promised "},
		"other type":        {func() io.Reader { return strings.NewReader(htmlFile) }, media.Upload{Type: "image/jpeg"}, mismatch, nil, "type: promised image/jpeg, got text/html"},
		"empty":             {func() io.Reader { return strings.NewReader("") }, media.Upload{}, nil, media.ErrEmpty, ""},
		"broken":            {func() io.Reader { return io.MultiReader(strings.NewReader(ten), iotest.ErrReader(broken)) }, media.Upload{}, nil, broken, ""},
		"cut in the middle": {func() io.Reader { return iotest.ErrReader(io.ErrUnexpectedEOF) }, media.Upload{}, nil, io.ErrUnexpectedEOF, ""},
		"bad digest":        {func() io.Reader { return strings.NewReader(ten) }, media.Upload{SHA256: []byte("x")}, nil, nil, "Upload.SHA256 has 1 bytes"},
		"bad id":            {func() io.Reader { return strings.NewReader(ten) }, media.Upload{ID: "../x"}, nil, nil, "is not a UUID"},
	} {
		for _, lib := range []*media.Library{inFolder, elsewhere} {
			_, err := lib.Save(t.Context(), c.r(), c.up)
			require.Error(t, err, name)
			if c.as != nil {
				require.ErrorAs(t, err, c.as, name)
			}
			if c.is != nil {
				require.ErrorIs(t, err, c.is, name)
			}
			require.ErrorContains(t, err, c.says, name)
			require.Empty(t, files(t, path), name)
			require.Empty(t, files(t, temp), name)
		}
	}
}

// endless is a stream that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestSaveStops(t *testing.T) {
	t.Parallel()
	folder, path := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := &counted{r: endless{}, at: 1 << 20, then: cancel}
	_, err := newLibrary(t, folder).Save(ctx, r, media.Upload{})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, files(t, path))
}

func TestSaveWithoutLimit(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	f, err := newLibrary(t, folder).Save(t.Context(), strings.NewReader("x"), media.Upload{Max: -1})
	require.NoError(t, err)
	require.EqualValues(t, 1, f.Size)
}

func TestSaveWithoutTemp(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib, err := media.New(struct{ media.Store }{folder}, &media.Options{Secrets: []string{secret}, Temp: t.TempDir() + "/none"})
	require.NoError(t, err)
	_, err = lib.Save(t.Context(), strings.NewReader("x"), media.Upload{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// counted calls then once, after at bytes were read.
type counted struct {
	r    io.Reader
	n    int64
	at   int64
	then func()
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n < c.at && c.n+int64(n) >= c.at {
		c.then()
	}
	c.n += int64(n)
	return n, err
}

// The type of a file depends only on its head and the declaration.
func TestType(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib := newLibrary(t, folder)
	mp4, m4a := string(mp4File("isom", 1000)), string(mp4File("M4A ", 1000))
	for _, c := range []struct{ declared, content, want string }{
		{"", string(jpegFile(1, 1)), "image/jpeg"},
		{"application/octet-stream", string(pngFile(1, 1)), "image/png"},
		{"garbage", string(webpFile()), "image/webp"},
		{strings.Repeat("image/jpeg;a=b", 30), string(gifFile(1, 1)), "image/gif"},
		{"", "\x00\x01\x02\x03", "application/octet-stream"},
		{"", "Hello", "text/plain"},

		{"image/jpeg", string(jpegFile(1, 1)), "image/jpeg"},
		{"image/jpg", string(jpegFile(1, 1)), "image/jpeg"},
		{"image/jpeg", string(pngFile(1, 1)), "image/png"},
		{"image/jpeg", "\x00\x01\x02\x03", "image/jpeg"},
		{"image/jpeg", svgFile, "refused"},
		{"image/jpeg", mp4, "refused"},
		{"image/jpeg", "Hello", "refused"},
		{"image/svg+xml", svgFile, "image/svg+xml"},

		{"audio/ogg; codecs=opus", string(opusFile(48000)), "audio/ogg; codecs=opus"},
		{"Audio/OGG; codecs=opus", string(opusFile(48000)), "audio/ogg; codecs=opus"},
		{"audio/mp3", string(mp3File(3)), "audio/mpeg"},
		{"audio/mpeg", string(opusFile(48000)), "audio/ogg"},
		{"audio/mp4", mp4, "audio/mp4"},
		{"audio/mpeg", mp4, "audio/mp4"},
		{"audio/mp4", m4a, "audio/mp4"},
		{"", m4a, "audio/mp4"},
		{"audio/amr", string(amrFile(2)), "audio/amr"},
		{"audio/aac", string(aacFile(2)), "audio/aac"},
		{"audio/ogg", htmlFile, "refused"},
		{"audio/ogg", string(pngFile(1, 1)), "refused"},

		{"video/mp4", mp4, "video/mp4"},
		{"video/3gpp", string(mp4File("3gp4", 1000)), "video/3gpp"},
		{"audio/3gpp", string(mp4File("3gp4", 1000)), "audio/3gpp"},
		{"video/mp4", htmlFile, "refused"},
		{"video/mp4", string(jpegFile(1, 1)), "refused"},

		{"application/pdf", string(pdfFile(1)), "application/pdf"},
		{"application/pdf", string(jpegFile(1, 1)), "image/jpeg"},
		{"application/pdf", htmlFile, "text/html"},
		{"text/csv", "a plain text", "text/csv"},
		{"application/vnd.apple.pages", string(zipFile()), "application/vnd.apple.pages"},
		{"text/plain; charset=iso-8859-1", "Hello", "text/plain; charset=iso-8859-1"},
	} {
		f, err := lib.Save(t.Context(), strings.NewReader(c.content), media.Upload{Type: c.declared})
		got := f.Type
		if err != nil {
			mismatch := new(media.Mismatch)
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, "type", mismatch.Field)
			got = "refused"
		}
		require.Equal(t, c.want, got, "%s declared, %.20q", c.declared, c.content)
	}
}
