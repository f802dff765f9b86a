package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"time"
)

// MP3, AAC (ADTS) and AMR files do not contain their duration. They are sequences
// of frames, each with its own length, which must be added up.

// frame is the header of a frame.
type frame struct {
	size    int // bytes, including the header
	samples int
	rate    int // samples per second
}

// framesDuration adds up the durations of a file's frames, up to the first broken
// one.
func framesDuration(src *source) time.Duration {
	r := src.from(0)
	skipTags(r)
	head, parse := 4, mpegFrame
	switch {
	case starts(r, "#!AMR\n"):
		head, parse = 1, amrFrame(amrSizes)
		_, _ = r.Discard(len("#!AMR\n"))
	case starts(r, "#!AMR-WB\n"):
		head, parse = 1, amrFrame(amrWideSizes)
		_, _ = r.Discard(len("#!AMR-WB\n"))
	case isADTS(r):
		head, parse = 7, adtsFrame
	}
	var total time.Duration
	for total <= maxDuration {
		p, err := r.Peek(head)
		if err != nil {
			break
		}
		f, ok := parse(p)
		if !ok {
			break
		}
		if _, err := r.Discard(f.size); err != nil {
			break // the last frame is incomplete
		}
		total += time.Duration(f.samples) * time.Second / time.Duration(f.rate)
	}
	return total
}

func starts(r *bufio.Reader, magic string) bool {
	p, _ := r.Peek(len(magic))
	return string(p) == magic
}

// skipTags skips ID3 tags, which contain titles and pictures.
func skipTags(r *bufio.Reader) {
	for range 4 {
		p, err := r.Peek(10)
		if err != nil || !bytes.HasPrefix(p, []byte("ID3")) {
			return
		}
		size := 10 + int(p[6]&127)<<21 + int(p[7]&127)<<14 + int(p[8]&127)<<7 + int(p[9]&127)
		if p[5]&16 != 0 {
			size += 10
		}
		_, _ = r.Discard(size) // the next read returns an error at the end of the file
	}
}

var (
	mpegRates = [4]int{44100, 48000, 32000, 0}
	// Kilobits per second of layer III, for version 1 and for versions 2 and 2.5.
	mpegBits = [2][16]int{
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0},
	}
)

// mpegFrame parses the header of a frame of MPEG audio, layer III (ISO/IEC 11172-3,
// 13818-3).
func mpegFrame(p []byte) (frame, bool) {
	h := binary.BigEndian.Uint32(p)
	version, layer := h>>19&3, h>>17&3 // 3: version 1, 2: 2, 0: 2.5; 1: layer III
	if h>>21 != 1<<11-1 || version == 1 || layer != 1 {
		return frame{}, false
	}
	f := frame{samples: 1152, rate: mpegRates[h>>10&3]}
	table := 0
	if version != 3 {
		table, f.samples = 1, 576
		f.rate /= 2
	}
	if version == 0 {
		f.rate /= 2
	}
	bits := mpegBits[table][h>>12&15] * 1000
	if bits == 0 || f.rate == 0 {
		return frame{}, false
	}
	f.size = f.samples/8*bits/f.rate + int(h>>9&1)
	return f, true
}

var adtsRates = [16]int{
	96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
}

// isADTS distinguishes AAC from MP3, whose frames begin alike, by the layer.
func isADTS(r *bufio.Reader) bool {
	p, _ := r.Peek(2)
	return len(p) == 2 && p[0] == 0xff && p[1]&0xf6 == 0xf0
}

// adtsFrame parses the header of a frame of AAC (ISO/IEC 13818-7).
func adtsFrame(p []byte) (frame, bool) {
	f := frame{
		size:    int(p[3]&3)<<11 | int(p[4])<<3 | int(p[5])>>5,
		samples: 1024 * (int(p[6]&3) + 1),
		rate:    adtsRates[p[2]>>2&15],
	}
	return f, p[0] == 0xff && p[1]&0xf6 == 0xf0 && f.size >= 7 && f.rate != 0
}

// Bytes of a frame by type (RFC 4867), including the header; 0: no such type.
var (
	amrSizes     = [16]int{13, 14, 16, 18, 20, 21, 27, 32, 6, 15: 1}
	amrWideSizes = [16]int{18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 14: 1, 15: 1}
)

// amrFrame parses frames of 20 ms.
func amrFrame(sizes [16]int) func([]byte) (frame, bool) {
	return func(p []byte) (frame, bool) {
		size := sizes[p[0]>>3&15]
		return frame{size: size, samples: 1, rate: 50}, size > 0 && p[0]&0x83 == 0
	}
}
