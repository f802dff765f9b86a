package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"io"
	"math"
	"strings"
)

const (
	// filmForms and soundForms are the formats that ffmpeg may use. None of them
	// can refer to another file or an address.
	filmForms  = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,avi,mpeg,mpegts,flv"
	soundForms = "aac,amr,flac,matroska,webm,mov,mp4,m4a,3gp,mp3,ogg,wav"

	// previewEdge is the longer side of a picture that a program makes, and
	// previewBytes its maximum size.
	previewEdge  = "320"
	previewBytes = 1 << 20

	// waveRate is in samples per second, waveSlot is the number of samples of one
	// loudness value, waveSeconds the maximum duration that is read.
	waveRate    = 8000
	waveSlot    = 80
	waveSeconds = 30 * 60
	waveBars    = 64
)

// preview adds the results of programs for the file at path, if they are on the
// PATH: a picture of a video or of the first page of a PDF, the waveform of audio.
func (l *Library) preview(ctx context.Context, path, contentType string, info *Info) {
	ctx, cancel := context.WithTimeout(ctx, l.opts.ProgramTime)
	defer cancel()
	kind := base(contentType)
	film, sound := strings.HasPrefix(kind, "video/"), strings.HasPrefix(kind, "audio/") || kind == "application/ogg"
	if l.opts.NoPrograms || !film && !sound && kind != "application/pdf" {
		return
	}
	select {
	case l.turns <- struct{}{}:
		defer func() { <-l.turns }()
	case <-ctx.Done():
		return
	}
	switch {
	case film:
		info.JPEGThumbnail = picture(ctx, "ffmpeg", append(ffmpeg(path, filmForms), "-an", "-sn", "-dn", "-frames:v", "1",
			"-vf", "scale=w="+previewEdge+":h="+previewEdge+":force_original_aspect_ratio=decrease:force_divisible_by=2", "-c:v", "mjpeg", "-f", "image2pipe", "pipe:1")...)
	case sound:
		info.Waveform = waveform(ctx, path)
	case info.JPEGThumbnail == "":
		info.JPEGThumbnail = picture(ctx, "pdftoppm", "-q", "-f", "1", "-l", "1", "-singlefile", "-jpeg", "-scale-to", previewEdge, path)
	}
}

// ffmpeg returns arguments for reading an untrusted file: no network, one thread,
// no large allocation.
func ffmpeg(path, forms string) []string {
	return []string{
		"-nostdin", "-loglevel", "quiet", "-max_alloc", "134217728", "-protocol_whitelist", "file,pipe", "-format_whitelist", forms,
		"-threads", "1", "-filter_threads", "1", "-i", "file:" + path,
	}
}

// picture returns a thumbnail of the picture that a program writes; "" if it fails.
func picture(ctx context.Context, program string, args ...string) string {
	out := ""
	_ = runProgram(ctx, func(r io.Reader) error {
		raw, err := io.ReadAll(io.LimitReader(r, previewBytes))
		if err == nil {
			out = smallPicture(ctx, raw)
		}
		return err
	}, program, args...)
	return out
}

// smallPicture returns a thumbnail of an untrusted picture; "" if it cannot be
// decoded.
func smallPicture(ctx context.Context, raw []byte) string {
	var info Info
	src := &source{ctx: ctx, r: bytes.NewReader(raw), size: int64(len(raw))}
	if _, _, err := image.DecodeConfig(src.from(0)); err == nil {
		inspectImage(src, &info)
	}
	return info.JPEGThumbnail
}

// waveform returns the loudness of a sound over time: 64 bytes from 0 to 100 in
// base64, the loudest of them 100; "" if it cannot be decoded.
func waveform(ctx context.Context, path string) string {
	var slots []float32
	err := runProgram(ctx, func(r io.Reader) (err error) {
		slots, err = loudness(r)
		return err
	}, "ffmpeg", append(ffmpeg(path, soundForms), "-vn", "-sn", "-dn", "-t", "1800", "-ac", "1", "-ar", "8000", "-f", "s16le", "pipe:1")...)
	if err != nil || len(slots) == 0 {
		return ""
	}
	return base64.StdEncoding.EncodeToString(bars(slots))
}

// loudness returns the loudness of each slot of 16-bit samples in r.
func loudness(r io.Reader) ([]float32, error) {
	var slots []float32
	buf := make([]byte, 2*waveSlot)
	for len(slots) < waveSeconds*waveRate/waveSlot {
		n, err := io.ReadFull(r, buf)
		sum := 0.0
		for i := 0; i+1 < n; i += 2 {
			v := float64(int16(uint16(buf[i]) | uint16(buf[i+1])<<8))
			sum += v * v
		}
		if n > 1 {
			slots = append(slots, float32(math.Sqrt(sum/float64(n/2))))
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return slots, nil
		case err != nil:
			return slots, err
		}
	}
	return slots, nil
}

// bars returns the mean loudness of 64 equal parts, from 0 to 100.
func bars(slots []float32) []byte {
	means, loudest := make([]float64, waveBars), 0.0
	for i := range means {
		from := i * len(slots) / waveBars
		part := slots[from:max(from+1, (i+1)*len(slots)/waveBars)]
		for _, v := range part {
			means[i] += float64(v) / float64(len(part))
		}
		loudest = max(loudest, means[i])
	}
	out := make([]byte, waveBars)
	for i, v := range means {
		if loudest > 0 {
			out[i] = byte(math.Round(100 * v / loudest))
		}
	}
	return out
}
