package open

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrDamaged means that the write-ahead log of a SQLite database is damaged, and that
// committed transactions follow the damage. SQLite would drop them silently.
var ErrDamaged = errors.New("the write-ahead log of the database is damaged")

// Sizes and places in a write-ahead log. See
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	walHeader   = 32
	frameHeader = 24
	walLittle   = 0x377f0682 // the checksums are of little-endian words
	walBig      = 0x377f0683
	minCommits  = 2 // see walDamage
)

// checkWAL returns ErrDamaged if committed transactions follow damage in the log of the
// database at path. Another process may use the database.
func checkWAL(path string) error {
	file, err := os.Open(path + "-wal") //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	for {
		before, err := headOf(file)
		if err != nil || len(before) < walHeader {
			return err
		}
		at, err := walDamage(io.NewSectionReader(file, 0, 1<<62), pageSize(path))
		if err != nil || at < 0 {
			return err
		}
		after, err := headOf(file)
		if err != nil {
			return err
		}
		if bytes.Equal(before, after) { // else another process has begun it again meanwhile
			return fmt.Errorf("%w at byte %d of %s-wal, and committed transactions follow: keep a copy of both files and restore the newest backup, "+
				"or open the database once with ?damaged_wal=drop, which deletes these transactions", ErrDamaged, at, path)
		}
	}
}

// headOf reads the header of a log, or less if the log is shorter.
func headOf(file io.ReaderAt) ([]byte, error) {
	head := make([]byte, walHeader)
	n, err := file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// pageSize returns the size of a page that a database file names, or 0.
func pageSize(path string) int {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // it is only read
	var size [2]byte
	if _, err := file.ReadAt(size[:], 16); err != nil {
		return 0
	}
	if n := int(binary.BigEndian.Uint16(size[:])); n != 1 {
		return n
	}
	return 1 << 16
}

// walDamage returns where a log is damaged, or -1. SQLite reads a log up to the first
// frame whose checksum is wrong. Such a frame is no damage if it is what a power cut or
// an older use of the file has left. That leaves at most one commit in an unbroken row
// of frames, because each commit is on the disk before the next is written. So two are
// damage. The checksum of a frame continues the one that stands in the frame before it,
// which is how frames are verified behind a damaged one.
func walDamage(log io.Reader, page int) (int64, error) {
	in := bufio.NewReaderSize(log, 1<<18)
	var head [walHeader]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return -1, ended(err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	magic := binary.BigEndian.Uint32(head[0:])
	if magic == walBig {
		order = binary.BigEndian
	}
	last := storedSum(head[24:])
	salts := [8]byte(head[16:])
	damaged := int64(-1)
	if (magic == walLittle || magic == walBig) && last == (walSum{}).add(order, head[:24]) {
		page = int(binary.BigEndian.Uint32(head[8:]))
	} else {
		damaged = 0
	}
	if page < 512 || page > 1<<16 || page&(page-1) != 0 {
		return -1, nil // no log of SQLite, or of a database that is not there
	}
	frame := make([]byte, frameHeader+page)
	commits := 0 // in the unbroken row of frames that were verified behind the damage
	for at := int64(walHeader); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); err != nil {
			return -1, ended(err)
		}
		sum := storedSum(frame[16:])
		if damaged == 0 {
			salts = [8]byte(frame[8:]) // those of the header are not known
		}
		sound := [8]byte(frame[8:]) == salts && binary.BigEndian.Uint32(frame) != 0 &&
			sum == last.add(order, frame[:8]).add(order, frame[frameHeader:])
		last = sum
		switch {
		case !sound && damaged < 0:
			damaged = at
		case !sound:
			commits = 0
		case damaged >= 0 && binary.BigEndian.Uint32(frame[4:]) != 0: // the last frame of a transaction
			if commits++; commits == minCommits {
				return damaged, nil
			}
		}
	}
}

// ended is nil if a log ends, also within a frame.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walSum is a checksum of a log.
type walSum [2]uint32

// storedSum reads a checksum.
func storedSum(b []byte) walSum {
	return walSum{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// add continues a checksum with bytes, of which there are a multiple of 8.
func (s walSum) add(order binary.ByteOrder, b []byte) walSum {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}
