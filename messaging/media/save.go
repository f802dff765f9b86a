package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
)

// Upload says what is about to be saved. Its zero value promises nothing.
type Upload struct {
	// ID is the id that the file shall have, a UUID in lower case; what was
	// stored under it is replaced, so that a fetch can be repeated. "": a new
	// one.
	ID string
	// Max is the most bytes that are taken; 0: 100 MiB, −1: any number.
	Max int64
	// Size is the number of bytes that were promised; 0: not said.
	Size int64
	// SHA256 is the promised digest, 32 bytes; nil: not said.
	SHA256 []byte
	// Type is the content type that was declared; "": not said.
	Type string
}

// File is what was saved.
type File struct {
	ID     string
	Type   string // see the package's text
	Size   int64  // bytes
	SHA256 []byte
	Info
}

const (
	defaultMax = 100 << 20
	unbounded  = 1<<63 - 2
	chunk      = 64 << 10
	headSize   = 4 << 10 // by which a type is told
)

// Save reads r to its end and stores it. Whatever fails, nothing is stored and
// nothing is left; r is not closed. See the package's text for the errors.
func (l *Library) Save(ctx context.Context, r io.Reader, up Upload) (File, error) {
	if err := up.check(); err != nil {
		return File{}, err
	}
	id, err := newID(up.ID)
	if err != nil {
		return File{}, err
	}
	d, err := l.draft()
	if err != nil {
		return File{}, err
	}
	defer d.discard()
	f, err := up.receive(ctx, d, r)
	if err != nil {
		return File{}, fmt.Errorf("receiving file %s: %w", id, err)
	}
	f.ID = id
	f.Info = l.inspect(ctx, d, f.Size, f.Type)
	l.preview(ctx, d.Name(), f.Type, &f.Info)
	if err := l.keep(ctx, id, d, f.Size); err != nil {
		return File{}, err
	}
	return f, nil
}

// check refuses what is wrong before a byte is read.
func (up *Upload) check() error {
	if up.Max == 0 {
		up.Max = defaultMax
	}
	switch {
	case up.Max < 0:
		up.Max = unbounded
	case up.Size > up.Max:
		return &TooLarge{Max: up.Max}
	}
	if up.SHA256 != nil && len(up.SHA256) != sha256.Size {
		return fmt.Errorf("media: Upload.SHA256 has %d bytes, not %d", len(up.SHA256), sha256.Size)
	}
	return nil
}

// receive writes r to the draft and compares it with what was promised.
func (up *Upload) receive(ctx context.Context, d *draft, r io.Reader) (File, error) {
	sum := sha256.New()
	var head bytes.Buffer
	size, err := pour(ctx, d, io.LimitReader(r, up.Max+1), func(p []byte) {
		sum.Write(p)
		head.Write(p[:min(len(p), headSize-head.Len())])
	})
	f := File{Size: size, SHA256: sum.Sum(nil)}
	switch {
	case err != nil:
		return f, err
	case size > up.Max:
		return f, &TooLarge{Max: up.Max}
	case size == 0:
		return f, ErrEmpty
	case up.Size > 0 && size != up.Size:
		return f, &Mismatch{Field: "size", Want: strconv.FormatInt(up.Size, 10), Got: strconv.FormatInt(size, 10)}
	case up.SHA256 != nil && !bytes.Equal(up.SHA256, f.SHA256):
		return f, &Mismatch{Field: "sha256", Want: hex.EncodeToString(up.SHA256), Got: hex.EncodeToString(f.SHA256)}
	}
	f.Type, err = detectType(up.Type, head.Bytes())
	return f, err
}

// pour copies r to w and shows each piece to see. Only an error of w is about
// room; one of r is returned as it came.
func pour(ctx context.Context, w io.Writer, r io.Reader, see func([]byte)) (int64, error) {
	buf := make([]byte, chunk)
	var size int64
	for {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		n, err := r.Read(buf)
		if n > 0 {
			see(buf[:n])
			if _, err := w.Write(buf[:n]); err != nil {
				return size, full(err)
			}
			size += int64(n)
		}
		if err == io.EOF { // a wrapped EOF is a stream cut short
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}
