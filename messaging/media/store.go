package media

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// Store keeps files by id. It is safe for concurrent use, by several processes
// too. Ids are those that [CheckID] allows; a Store may rely on it.
type Store interface {
	// Put stores size bytes of r under id, whole or not at all, and replaces
	// what was there. When it returns nil the file survives a crash.
	Put(ctx context.Context, id string, r io.Reader, size int64) error
	// Open opens a file, or returns [ErrNotFound]. ctx holds until it is closed.
	Open(ctx context.Context, id string) (Object, error)
	// Size is the length of a file in bytes, or [ErrNotFound].
	Size(ctx context.Context, id string) (int64, error)
	// Delete removes a file; a missing file is not an error.
	Delete(ctx context.Context, id string) error
}

// Object is an open file of a [Store]. Seeking costs nothing until the next
// read, so a range is read without what precedes it.
type Object interface {
	io.ReadSeekCloser
	Size() int64
}

// A placer is a Store that can be written to directly: a draft becomes the
// file by being renamed.
type placer interface {
	draft() (*draft, error)
	place(id string, d *draft) error
}

// A sweeper is a Store in which a killed process leaves something.
type sweeper interface {
	// Sweep removes what was not written to for longer than age and says
	// how many files that were.
	Sweep(ctx context.Context, age time.Duration) (int, error)
}

// draft is a temporary file.
type draft struct {
	*os.File
	remove func() error
}

// discard ends a draft that was not placed.
func (d *draft) discard() {
	_ = d.Close()  // it may be closed
	_ = d.remove() // it may have been renamed; a sweep finds what is left
}

var idPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// CheckID says whether id can name a file: a UUID in lower case.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("media: %.40q is not a UUID in lower case", id)
	}
	return nil
}
