package media

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
)

// Upload describes a file to save. The zero value declares nothing.
type Upload struct {
	// ID is the id of the file, a UUID in lower case. It replaces a file with the
	// same id, so that a download can be repeated. "": a new id.
	ID string
	// Max is the maximum size in bytes; 0: 100 MiB, −1: no limit.
	Max int64
	// Size is the declared size in bytes; 0: unknown.
	Size int64
	// SHA256 is the declared digest, 32 bytes; nil: unknown.
	SHA256 []byte
	// Type is the declared content type; "": unknown.
	Type string
}

// File is a saved file.
type File struct {
	ID     string
	Type   string // see the package documentation
	Size   int64  // bytes
	SHA256 []byte
	Info
}

const (
	defaultMax = 100 << 20
	unbounded  = 1<<63 - 2
	chunk      = 64 << 10
	headSize   = 4 << 10 // from which the type is detected
)

// Save reads r to its end and stores it. If it fails it stores nothing and leaves
// nothing behind. It does not close r. See the package documentation for the
// errors.
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

// check validates an upload before anything is read.
func (up *Upload) check() error {
	up.Max = cmp.Or(up.Max, defaultMax)
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

// receive writes r to the draft and compares it with the declaration.
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

// pour copies r to w and passes each piece to see. Only an error of w can mean a
// full disk; an error of r is returned unchanged.
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
		if err == io.EOF { // a wrapped EOF is a truncated stream
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}
