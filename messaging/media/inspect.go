package media

import (
	"bufio"
	"context"
	"io"
	"math"
	"time"
)

// Info has the properties of a file; 0 and "" are unknown.
type Info struct {
	Width, Height int // pixels of images and videos, as displayed
	Seconds       int // of audio and video, rounded, at least 1
	Pages         int // of a PDF
	// Title is the title of a PDF or of a document of Office or OpenDocument, in
	// one line of at most 300 characters.
	Title string
	// JPEGThumbnail is a preview: a JPEG of at most 7 KiB in base64. It shows an
	// image, or the picture within a document of Office or OpenDocument. If the
	// programs are installed it also shows a video (ffmpeg) or the first page of a
	// PDF (pdftoppm).
	JPEGThumbnail string
	// Waveform is the loudness of audio over time: 64 bytes from 0 to 100 in
	// base64. It needs ffmpeg.
	Waveform string
}

const (
	inspectTime = 5 * time.Second
	maxDuration = 7 * 24 * time.Hour // longer durations are not plausible
)

// Inspect determines the properties of a file of size bytes and the given type,
// whose parameters are ignored. It does not run other programs. It never fails: it
// returns what it has found within the first seconds. The worst images need about
// 200 MiB of memory, so a caller should run one Inspect at a time, as a [Library]
// does.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, contentType string) (info Info) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	// Decoders of other modules read untrusted files here.
	defer func() { _ = recover() }()
	src := &source{ctx: ctx, r: r, size: size}
	switch bare := base(contentType); {
	case isOffice(bare):
		inspectOffice(src, &info)
	default:
		inspectKind(src, bare, &info)
	}
	return info
}

func inspectKind(src *source, bare string, info *Info) {
	switch bare {
	case "image/jpeg", "image/png", "image/apng", "image/gif", "image/webp":
		inspectImage(src, info)
	case "video/mp4", "video/3gpp", "video/3gpp2", "video/quicktime", "video/x-m4v", "audio/mp4", "audio/3gpp":
		inspectMP4(src, info)
	case "audio/ogg", "video/ogg", "application/ogg", "audio/opus":
		info.Seconds = seconds(oggDuration(src))
	case "audio/mpeg", "audio/aac", "audio/amr", "audio/amr-wb":
		info.Seconds = seconds(framesDuration(src))
	case "application/pdf":
		inspectPDF(src, info)
	}
}

// inspect is like [Inspect], with limited concurrency.
func (l *Library) inspect(ctx context.Context, r io.ReaderAt, size int64, contentType string) Info {
	select {
	case l.lenses <- struct{}{}:
		defer func() { <-l.lenses }()
		return Inspect(ctx, r, size, contentType)
	case <-ctx.Done():
		return Info{}
	}
}

// seconds converts a duration for Info.
func seconds(d time.Duration) int {
	if d <= 0 || d > maxDuration {
		return 0
	}
	return max(1, int(math.Round(d.Seconds())))
}

// units returns the duration of n units at rate units per second.
func units(n, rate uint64) time.Duration {
	if rate == 0 || n/rate > uint64(maxDuration/time.Second) {
		return 0
	}
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// source is a file that can be read until a deadline.
type source struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
}

// ReadAt implements [io.ReaderAt].
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.ReadAt(p, off)
}

// at returns n bytes at off, or nil if the file ends before.
func (s *source) at(off int64, n int) []byte {
	p := make([]byte, n)
	if off < 0 || off > s.size-int64(n) {
		return nil
	}
	if got, _ := s.ReadAt(p, off); got < n {
		return nil
	}
	return p
}

// from returns a reader of the file from off.
func (s *source) from(off int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s, off, max(0, s.size-off)), chunk)
}
