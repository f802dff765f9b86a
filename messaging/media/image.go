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
	// maxPixels is 12 megapixels. The worst case, a progressive JPEG without
	// subsampling, needs 15 bytes of memory per pixel.
	maxPixels = 4096 * 3072
	// maxWebP limits the compressed size: the tables of a lossless WebP may need
	// 300 times as much memory.
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

// thumbnail returns a small JPEG of img in base64.
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

// shrink returns img on white, scaled so that its longer side is at most edge.
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

// sips returns little at a time and checks the time before each read, because some
// decoders can be made to work for long on a few bytes.
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
