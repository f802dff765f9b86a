package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	_ "image/gif" // registers the decoder
	"image/jpeg"
	_ "image/png" // registers the decoder
	"io"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // registers the decoder
)

const (
	// maxPixels is what a camera of 12 megapixels makes. The worst of images
	// needs 15 bytes for a pixel, a progressive JPEG without subsampling.
	maxPixels = 4096 * 3072
	// maxWebP bounds the compressed bytes: the tables of a lossless WebP may
	// need 300 times as many.
	maxWebP = 512 << 10

	thumbEdge  = 160     // pixels
	thumbBytes = 7 << 10 // 10 KiB in base64
)

func inspectImage(src *source, info *Info) {
	conf, format, err := image.DecodeConfig(src.from(0))
	if err != nil {
		return
	}
	info.Width, info.Height = conf.Width, conf.Height
	if conf.Width <= 0 || conf.Height <= 0 || conf.Height > maxPixels/conf.Width || format == "webp" && src.size > maxWebP {
		return
	}
	img, _, err := image.Decode(sips{src.ctx, src.from(0)})
	if err != nil {
		return
	}
	info.JPEGThumbnail = thumbnail(img)
}

// thumbnail is a small JPEG of img in base64.
func thumbnail(img image.Image) string {
	for edge := thumbEdge; edge > 8; edge /= 2 {
		small := shrink(img, edge)
		for _, quality := range []int{70, 40} {
			var buf bytes.Buffer
			if err := jpeg.Encode(&buf, small, &jpeg.Options{Quality: quality}); err != nil {
				return ""
			}
			if buf.Len() <= thumbBytes {
				return base64.StdEncoding.EncodeToString(buf.Bytes())
			}
		}
	}
	return ""
}

// shrink is img on white, its longer edge not above edge.
func shrink(img image.Image, edge int) image.Image {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if longer := max(w, h); longer > edge {
		w, h = max(1, w*edge/longer), max(1, h*edge/longer)
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(small, small.Bounds(), img, b, draw.Over, nil)
	return small
}

// sips hands out little at a time and looks at the clock before, because some
// decoders can be made to work long on a few bytes.
type sips struct {
	ctx context.Context
	r   io.Reader
}

func (s sips) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p[:min(len(p), 32)])
}
