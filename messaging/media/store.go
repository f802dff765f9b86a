package media

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// Store stores files by id. It is safe for concurrent use, also by several
// processes. Ids satisfy [CheckID].
type Store interface {
	// Put stores size bytes of r under id, completely or not at all, and replaces
	// an existing file. When it returns nil the file survives a crash.
	Put(ctx context.Context, id string, r io.Reader, size int64) error
	// Open opens a file, or returns [ErrNotFound]. ctx applies until the file is
	// closed.
	Open(ctx context.Context, id string) (Object, error)
	// Size returns the size of a file in bytes, or [ErrNotFound].
	Size(ctx context.Context, id string) (int64, error)
	// Delete removes a file; a missing file is not an error.
	Delete(ctx context.Context, id string) error
}

// Object is an open file of a [Store]. Seeking is free until the next read, so that
// reading a range does not read what precedes it.
type Object interface {
	io.ReadSeekCloser
	Size() int64
}

// A placer is a Store that can be written to directly: a draft becomes the file by
// renaming it.
type placer interface {
	draft() (*draft, error)
	place(id string, d *draft) error
}

// A sweeper is a Store in which a killed process leaves drafts.
type sweeper interface {
	// Sweep removes drafts that were not written to for longer than age and returns
	// their number.
	Sweep(ctx context.Context, age time.Duration) (int, error)
}

// A measurer is a Store that finds out by itself whether it has room.
type measurer interface {
	// Room returns an error, which is [ErrFull] if there is no room for a file of
	// size bytes.
	Room(ctx context.Context, size int64) error
}

// draft is a temporary file.
type draft struct {
	*os.File
	remove func() error
}

// fill writes size bytes that no file system can compress, and discards the draft.
func (d *draft) fill(size int64) error {
	defer d.discard()
	if _, err := io.CopyN(d.File, rand.Reader, size); err != nil {
		return fmt.Errorf("filling a draft: %w", full(err))
	}
	return nil
}

// discard removes a draft that was not placed.
func (d *draft) discard() {
	_ = d.Close()  // it may be closed already
	_ = d.remove() // it may have been renamed; a sweep finds what is left
}

var idPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// CheckID returns an error unless id is a UUID in lower case.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("media: %.40q is not a UUID in lower case", id)
	}
	return nil
}
