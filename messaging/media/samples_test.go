package media_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
)

// The samples are as small as their formats allow.

func picture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 7)
	}
	return img
}

func jpegFile(w, h int) []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, picture(w, h), nil))
	return b.Bytes()
}

func pngFile(w, h int) []byte {
	var b bytes.Buffer
	must(png.Encode(&b, picture(w, h)))
	return b.Bytes()
}

func gifFile(w, h int) []byte {
	var b bytes.Buffer
	must(gif.Encode(&b, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black}), nil))
	return b.Bytes()
}

// webpFile returns a lossless picture of one pixel.
func webpFile() []byte {
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	must(err)
	return b
}

// animatedWebP has the head of an animation and no pictures.
func animatedWebP(w, h int) []byte {
	body := []byte{0x02, 0, 0, 0}
	body = append(body, byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
	chunk := slices.Concat([]byte("WEBPVP8X"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	return slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(chunk))), chunk)
}

func box(kind string, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), []byte(kind), body)
}

func words(n ...uint32) (b []byte) {
	for _, w := range n {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

var (
	upright = words(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30)
	turned  = words(0, 1<<16, 0, 0xffff0000, 0, 0, 0, 0, 1<<30)
)

func track(kind string, matrix []byte, w, h uint32) []byte {
	return box("trak",
		box("tkhd", words(7, 0, 0, 1, 0, 0, 0, 0, 0, 0), matrix, words(w<<16, h<<16)),
		box("mdia", box("hdlr", words(0, 0), []byte(kind), words(0, 0, 0), []byte{0})))
}

// moov returns the index of a movie of so many thousandths of a second.
func moov(ms uint32, tracks ...[]byte) []byte {
	return box("moov", slices.Concat([][]byte{box("mvhd", words(0, 0, 0, 1000, ms), make([]byte, 80))}, tracks)...)
}

func mp4File(brand string, ms uint32, tracks ...[]byte) []byte {
	return slices.Concat(box("ftyp", []byte(brand), words(512)), box("mdat", make([]byte, 100)), moov(ms, tracks...))
}

// movieLong has 64-bit durations and says its length in the index of pieces.
func movieLong(ms uint32) []byte {
	tkhd := box("tkhd", words(1<<24|7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0), upright, words(640<<16, 360<<16))
	return slices.Concat(box("ftyp", []byte("iso5"), words(512)), box("moov",
		box("mvhd", words(1<<24, 0, 0, 0, 0, 1000, 0, 0), make([]byte, 80)),
		box("mvex", box("mehd", words(1<<24, 0, ms))),
		box("trak", tkhd, box("mdia", box("hdlr", words(0, 0), []byte("vide"))))))
}

func oggPage(serial uint32, position uint64, packet []byte) []byte {
	b := append([]byte("OggS"), 0, 2)
	b = binary.LittleEndian.AppendUint64(b, position)
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = append(b, make([]byte, 8)...)
	return slices.Concat(b, []byte{1, byte(len(packet))}, packet)
}

// opusFile returns a file with samples of 1/48,000 s, after 312 samples that are
// skipped.
func opusFile(samples uint64) []byte {
	head := slices.Concat([]byte("OpusHead"), []byte{1, 1, 0x38, 1}, make([]byte, 7))
	return slices.Concat(oggPage(7, 0, head), oggPage(7, 0, []byte("OpusTags")), oggPage(7, samples+312, []byte("sound")),
		oggPage(7, 1<<64-1, []byte("more")), oggPage(8, 1<<40, []byte("another stream")))
}

func vorbisFile(rate uint32, seconds uint64) []byte {
	head := slices.Concat([]byte("\x01vorbis"), words(0), []byte{2}, binary.LittleEndian.AppendUint32(nil, rate), make([]byte, 14))
	return slices.Concat(oggPage(1, 0, head), oggPage(1, seconds*uint64(rate), []byte("sound")))
}

// mp3File has n frames of 417 bytes, 26.1 ms each, behind a tag.
func mp3File(n int) []byte {
	frame := append([]byte{0xff, 0xfb, 0x90, 0x00}, make([]byte, 413)...)
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x01\x00"), make([]byte, 128)...)
	return slices.Concat(tag, bytes.Repeat(frame, n), []byte("TAG"), make([]byte, 125))
}

// aacFile has n frames of 64 ms.
func aacFile(n int) []byte {
	return bytes.Repeat(append([]byte{0xff, 0xf1, 0x60, 0x40, 0x01, 0x00, 0xfc}, 0), n)
}

// amrFile has n frames of 20 ms.
func amrFile(n int) []byte {
	return append([]byte("#!AMR\n"), bytes.Repeat(append([]byte{0x3c}, make([]byte, 31)...), n)...)
}

func pdfFile(pages int) []byte {
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"+
		"2 0 obj\n<< /Kids [ 3 0 R ] /Type /Pages /Resources << /Font << >> >> /Count %d >>\nendobj\n"+
		"3 0 obj\n<</Type/Pages/Parent 2 0 R/Count 99/Kids[]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%%%EOF\n", pages)
}

// pdfPacked has its pages in a compressed stream.
func pdfPacked(pages int) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, err := fmt.Fprintf(w, "2 0 3 60 <</Type/Pages/Count %d/Kids[3 0 R]>> <</Type/Page/Parent 2 0 R>>", pages)
	must(err)
	must(w.Close())
	return slices.Concat([]byte("%PDF-1.5\n9 0 obj\n<</Type/ObjStm/N 2/First 9/Filter/FlateDecode>>\nstream\r\n"),
		z.Bytes(), []byte("\nendstream\nendobj\n"))
}

func zipFile() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	_, err := z.Create("a.txt")
	must(err)
	must(z.Close())
	return b.Bytes()
}

const svgFile = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`

var htmlFile = "<!DOCTYPE html><html><body>" + strings.Repeat("no picture ", 10) + "</body></html>"

func must(err error) {
	if err != nil {
		panic(err)
	}
}
