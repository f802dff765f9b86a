package media_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

func inspect(t testing.TB, content []byte, contentType string) media.Info {
	t.Helper()
	return media.Inspect(t.Context(), bytes.NewReader(content), int64(len(content)), contentType)
}

type sample struct {
	content     []byte
	contentType string
	want        media.Info // without the preview
}

func samples() map[string]sample {
	video := track("vide", upright, 640, 360)
	sound := track("soun", upright, 0, 0)
	return map[string]sample{
		"jpeg":              {jpegFile(300, 200), "image/jpeg", media.Info{Width: 300, Height: 200}},
		"png":               {pngFile(300, 200), "image/png", media.Info{Width: 300, Height: 200}},
		"gif":               {gifFile(300, 200), "image/gif", media.Info{Width: 300, Height: 200}},
		"webp":              {webpFile(), "image/webp", media.Info{Width: 1, Height: 1}},
		"animated webp":     {animatedWebP(512, 300), "image/webp", media.Info{Width: 512, Height: 300}},
		"mp4":               {mp4File("isom", 12_400, sound, video), "video/mp4", media.Info{Width: 640, Height: 360, Seconds: 12}},
		"mp4 turned":        {mp4File("isom", 100, track("vide", turned, 640, 360)), "video/mp4", media.Info{Width: 360, Height: 640, Seconds: 1}},
		"mp4, 64 bits":      {movieLong(7000), "video/mp4", media.Info{Width: 640, Height: 360, Seconds: 7}},
		"mp4, unknown":      {mp4File("isom", 1<<32-1, video), "video/mp4", media.Info{Width: 640, Height: 360}},
		"mp4, too long":     {mp4File("isom", 1<<32-2, video), "video/mp4", media.Info{Width: 640, Height: 360}},
		"3gp":               {mp4File("3gp4", 3000, track("vide", upright, 176, 144)), "video/3gpp", media.Info{Width: 176, Height: 144, Seconds: 3}},
		"m4a":               {mp4File("M4A ", 61_000, sound), "audio/mp4", media.Info{Seconds: 61}},
		"opus":              {opusFile(48_000 * 9), "audio/ogg; codecs=opus", media.Info{Seconds: 9}},
		"opus, short":       {opusFile(480), "audio/ogg", media.Info{Seconds: 1}},
		"vorbis":            {vorbisFile(44_100, 75), "audio/ogg", media.Info{Seconds: 75}},
		"mp3":               {mp3File(383), "audio/mpeg", media.Info{Seconds: 10}},
		"aac":               {aacFile(100), "audio/aac", media.Info{Seconds: 6}},
		"amr":               {amrFile(250), "audio/amr", media.Info{Seconds: 5}},
		"pdf":               {pdfFile(12), "application/pdf", media.Info{Pages: 12}},
		"pdf, packed":       {pdfPacked(34), "application/pdf", media.Info{Pages: 34}},
		"pdf, changed":      {append(pdfFile(12), pdfFile(13)...), "application/pdf", media.Info{Pages: 13}},
		"pdf, large":        {slices.Concat([]byte("%PDF-1.4\n"), make([]byte, 300<<10), pdfFile(5), make([]byte, 300<<10)), "application/pdf", media.Info{Pages: 5}},
		"pdf on a window":   {slices.Concat([]byte("%PDF-1.4\n"), make([]byte, 256<<10-70), pdfFile(6)), "application/pdf", media.Info{Pages: 6}},
		"not what it says":  {jpegFile(3, 3), "video/mp4", media.Info{}},
		"nothing to say of": {zipFile(), "application/zip", media.Info{}},
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, s := range samples() {
		got := inspect(t, s.content, s.contentType)
		got.JPEGThumbnail = ""
		require.Equal(t, s.want, got, name)
	}
}

func TestThumbnail(t *testing.T) {
	t.Parallel()
	for name, s := range samples() {
		got := inspect(t, s.content, s.contentType).JPEGThumbnail
		if s.want.Width == 0 || name == "animated webp" || s.contentType[:5] != "image" {
			require.Empty(t, got, name)
			continue
		}
		img := decode(t, got)
		require.LessOrEqual(t, max(img.Bounds().Dx(), img.Bounds().Dy()), 160, name)
	}

	noise := image.NewRGBA(image.Rect(0, 0, 1000, 1000))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.N(256))
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, noise, &jpeg.Options{Quality: 100}))
	thumb := inspect(t, b.Bytes(), "image/jpeg").JPEGThumbnail
	require.LessOrEqual(t, len(thumb), 10<<10)
	decode(t, thumb)

	line := inspect(t, pngFile(4000, 1), "image/png").JPEGThumbnail
	require.Equal(t, image.Rect(0, 0, 160, 1), decode(t, line).Bounds(), "it keeps a pixel")

	clear := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	b.Reset()
	require.NoError(t, png.Encode(&b, clear))
	r, g, bl, _ := decode(t, inspect(t, b.Bytes(), "image/png").JPEGThumbnail).At(10, 10).RGBA()
	require.Equal(t, []uint32{0xffff, 0xffff, 0xffff}, []uint32{r, g, bl}, "what is transparent is white")
}

func decode(t testing.TB, thumb string) image.Image {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(thumb)
	require.NoError(t, err)
	img, err := jpeg.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	return img
}

// An image with more pixels than the limit is measured but not decoded.
func TestDecodingBomb(t *testing.T) {
	t.Parallel()
	small := pngFile(10, 10)
	for _, size := range [][2]uint32{{50_000, 50_000}, {4097, 3072}, {1 << 31 >> 1, 1}} {
		bomb := slices.Clone(small)
		binary.BigEndian.PutUint32(bomb[16:], size[0])
		binary.BigEndian.PutUint32(bomb[20:], size[1])
		binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
		require.Equal(t, media.Info{Width: int(size[0]), Height: int(size[1])}, inspect(t, bomb, "image/png"))
	}
	largest := image.NewPaletted(image.Rect(0, 0, 4096, 3072), color.Palette{color.White})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, largest))
	require.NotEmpty(t, inspect(t, b.Bytes(), "image/png").JPEGThumbnail)
}

// A progressive JPEG can ask for a pass over all its pixels with a dozen
// bytes: this file would keep a decoder busy for minutes.
func TestSlowImage(t *testing.T) {
	t.Parallel()
	bomb := []byte{0xff, 0xd8}
	// One component, 4096 × 3072, progressive.
	bomb = append(bomb, 0xff, 0xc2, 0, 11, 8, 0x0c, 0, 0x10, 0, 1, 1, 0x11, 0)
	// A table with one code: a run of 2^14 empty blocks.
	bomb = append(bomb, 0xff, 0xc4, 0, 20, 0x10, 1)
	bomb = append(append(bomb, make([]byte, 15)...), 0xe0)
	for range 80_000 {
		bomb = append(bomb, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0)
		bomb = append(bomb, make([]byte, 24)...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan media.Info, 1)
	go func() {
		done <- media.Inspect(ctx, timed{bytes.NewReader(bomb), cancel}, int64(len(bomb)), "image/jpeg")
	}()
	select {
	case info := <-done:
		require.Equal(t, media.Info{Width: 4096, Height: 3072}, info)
	case <-time.After(time.Minute):
		require.Fail(t, "it goes on after its time")
	}
}

// timed is a file whose deadline passes when more than its head is read.
type timed struct {
	*bytes.Reader
	over func()
}

func (r timed) ReadAt(p []byte, off int64) (int, error) {
	if off > 0 {
		r.over()
	}
	return r.Reader.ReadAt(p, off)
}

// Truncated files, and files with any byte changed, do no harm.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		content := s.content[:min(len(s.content), 3000)]
		step := 1 + len(content)/300
		for n := 0; n < len(content); n += step {
			inspect(t, content[:n], s.contentType)
			changed := slices.Clone(content)
			changed[n] ^= 0xff
			inspect(t, changed, s.contentType)
		}
	}
}

// Panics of decoders and readers end only the inspection.
func TestInspectRecovers(t *testing.T) {
	t.Parallel()
	require.Zero(t, media.Inspect(t.Context(), panicking{}, 1000, "image/png"))
}

type panicking struct{}

func (panicking) ReadAt([]byte, int64) (int, error) { panic("a decoder's mistake") }

func FuzzInspect(f *testing.F) {
	for _, s := range samples() {
		if len(s.content) < 64<<10 {
			f.Add(s.content, s.contentType)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, contentType string) {
		info := inspect(t, content, contentType)
		require.GreaterOrEqual(t, min(info.Width, info.Height, info.Seconds, info.Pages), 0)
		require.LessOrEqual(t, len(info.JPEGThumbnail), 10<<10)
	})
}

// FuzzSave saves arbitrary bytes with arbitrary declarations.
func FuzzSave(f *testing.F) {
	folder, err := media.OpenFolder(f.TempDir())
	require.NoError(f, err)
	lib := newLibrary(f, folder)
	for _, s := range samples() {
		if len(s.content) < 64<<10 {
			f.Add(s.content, s.contentType)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, declared string) {
		file, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{Type: declared})
		if err != nil {
			mismatch := new(media.Mismatch)
			require.True(t, len(content) == 0 || errors.As(err, &mismatch), "%v", err)
			return
		}
		require.NotEmpty(t, file.Type)
		w := get(lib, lib.Link(file.ID, "a"))
		require.Equal(t, string(content), w.Body.String())
		require.NotRegexp(t, "html|xml|script", w.Header().Get("Content-Type"))
		require.NoError(t, lib.Delete(t.Context(), file.ID))
	})
}
