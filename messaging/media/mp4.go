package media

import (
	"encoding/binary"
)

// An MP4, 3GP or QuickTime file is a tree of boxes: 4 bytes of size, 4 of type, the
// contents (ISO/IEC 14496-12). Five small boxes at known places have all that is
// needed. All others are skipped without being read.

const maxBoxes = 10_000

// movie collects the properties in the boxes.
type movie struct {
	src   *source
	boxes int // seen so far
	// of the current track
	width, height int
	video         bool

	scale, duration uint64 // of the movie, in units
	info            *Info
}

func inspectMP4(src *source, info *Info) {
	m := &movie{src: src, info: info}
	m.walk(0, src.size, "")
	info.Seconds = seconds(units(m.duration, m.scale))
}

// walk reads the boxes between two offsets within a box of type parent.
func (m *movie) walk(off, end int64, parent string) {
	for off < end && m.boxes < maxBoxes {
		m.boxes++
		kind, body, next := m.box(off, end)
		if next == 0 {
			return
		}
		switch parent + "/" + kind {
		case "/moov", "moov/mvex", "trak/mdia":
			m.walk(body, next, kind)
		case "moov/trak":
			m.width, m.height, m.video = 0, 0, false
			m.walk(body, next, kind)
			if m.video && m.info.Width == 0 {
				m.info.Width, m.info.Height = m.width, m.height
			}
		case "moov/mvhd":
			m.header(body)
		case "mvex/mehd":
			m.fragments(body)
		case "trak/tkhd":
			m.track(body)
		case "mdia/hdlr":
			m.video = m.video || string(m.src.at(body+8, 4)) == "vide"
		}
		if kind == "moov" {
			return // the other boxes do not matter
		}
		off = next
	}
}

// box reads the header of the box at off: its type, the start of its contents and
// the start of the next box; 0 if there is no box.
func (m *movie) box(off, end int64) (kind string, body, next int64) {
	h := m.src.at(off, 8)
	if h == nil {
		return "", 0, 0
	}
	body = off + 8
	size := int64(binary.BigEndian.Uint32(h))
	switch size {
	case 0:
		size = end - off
	case 1:
		long := m.src.at(body, 8)
		if long == nil {
			return "", 0, 0
		}
		body += 8
		size = int64(binary.BigEndian.Uint64(long)) // checked below
	}
	if size < body-off || size > end-off {
		return "", 0, 0
	}
	return string(h[4:]), body, off + size
}

// header reads the movie header.
func (m *movie) header(body int64) {
	p := m.src.at(body, 20)
	if p == nil {
		return
	}
	m.scale, m.duration = uint64(binary.BigEndian.Uint32(p[12:])), short(p[16:])
	if p[0] == 1 {
		if p = m.src.at(body, 32); p != nil {
			m.scale, m.duration = uint64(binary.BigEndian.Uint32(p[20:])), long(p[24:])
		}
	}
}

// fragments reads the duration of a fragmented movie.
func (m *movie) fragments(body int64) {
	if m.duration != 0 {
		return
	}
	if p := m.src.at(body, 12); p != nil && p[0] == 1 {
		m.duration = long(p[4:])
	} else if p = m.src.at(body, 8); p != nil {
		m.duration = short(p[4:])
	}
}

// track reads the display size of a track, rotated if necessary.
func (m *movie) track(body int64) {
	first := m.src.at(body, 1)
	if first == nil {
		return
	}
	matrix := body + 40
	if first[0] == 1 {
		matrix += 12
	}
	p := m.src.at(matrix, 44)
	if p == nil {
		return
	}
	m.width, m.height = int(binary.BigEndian.Uint16(p[36:])), int(binary.BigEndian.Uint16(p[40:]))
	if a, b := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:]); a == 0 && b != 0 {
		m.width, m.height = m.height, m.width
	}
}

// short and long decode durations; all ones mean unknown.
func short(p []byte) uint64 {
	if n := binary.BigEndian.Uint32(p); n != 1<<32-1 {
		return uint64(n)
	}
	return 0
}

func long(p []byte) uint64 {
	if n := binary.BigEndian.Uint64(p); n != 1<<64-1 {
		return n
	}
	return 0
}
