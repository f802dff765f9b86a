package media

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound reports a file that does not exist.
	ErrNotFound = errors.New("media: not found")
	// ErrEmpty reports a stream without a byte.
	ErrEmpty = errors.New("media: the file is empty")
	// ErrFull reports that the disk, a quota or the maximum file size of the file
	// system is reached. No part of the file remains.
	ErrFull = errors.New("media: there is no room for the file")
)

// TooLarge is the error of a file that exceeds a size limit.
type TooLarge struct {
	Max int64 // limit in bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("media: the file is larger than %d bytes", e.Max)
}

// Mismatch is the error of a file that differs from its declaration.
type Mismatch struct {
	Field     string // "size", "sha256" or "type"
	Want, Got string // "audio/ogg" and "text/html"
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("media: %s: promised %s, got %s", e.Field, e.Want, e.Got)
}

// full converts the errors of a full file system to [ErrFull].
func full(err error) error {
	for _, e := range noRoom {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	return err
}
