package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

const (
	oggHead   = 27 // size of a page header without its table
	oggPage   = oggHead + 255 + 255*255
	opusRate  = 48_000
	endOfNone = 1<<64 - 1 // the position of a page on which no packet ends
)

// oggDuration returns the duration of an Ogg file: the position on the last page of
// its first stream (RFC 3533), in samples of Opus (RFC 7845) or Vorbis.
func oggDuration(src *source) time.Duration {
	first := src.at(0, int(min(src.size, oggHead+255+64)))
	if len(first) < oggHead || !bytes.HasPrefix(first, []byte("OggS\x00")) {
		return 0
	}
	rate, skip := oggRate(first[min(len(first), oggHead+int(first[26])):])
	if rate == 0 {
		return 0
	}
	end := oggEnd(src, first[14:18])
	if end <= skip {
		return 0
	}
	return units(end-skip, rate)
}

// oggRate parses the first packet of a stream: the number of positions per second,
// and the number of positions before the sound starts.
func oggRate(packet []byte) (rate, skip uint64) {
	switch {
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 19:
		return opusRate, uint64(binary.LittleEndian.Uint16(packet[10:]))
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 30:
		return uint64(binary.LittleEndian.Uint32(packet[12:])), 0
	}
	return 0, 0
}

// oggEnd returns the last position in the stream with a serial number.
func oggEnd(src *source, serial []byte) uint64 {
	n := min(src.size, 2*oggPage)
	tail := src.at(src.size-n, int(n))
	for {
		i := bytes.LastIndex(tail, []byte("OggS\x00"))
		if i < 0 {
			return 0
		}
		if page := tail[i:]; len(page) >= oggHead && bytes.Equal(page[14:18], serial) {
			if end := binary.LittleEndian.Uint64(page[6:]); end != endOfNone {
				return end
			}
		}
		tail = tail[:i]
	}
}
