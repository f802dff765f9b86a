package media

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound reports a file that is not there.
	ErrNotFound = errors.New("media: not found")
	// ErrEmpty reports a stream without a byte.
	ErrEmpty = errors.New("media: the file is empty")
	// ErrFull reports that the disk, a quota or the largest size of a file on
	// it is reached. Nothing of the file is left.
	ErrFull = errors.New("media: there is no room for the file")
)

// TooLarge is the error of a file that has more bytes than it may.
type TooLarge struct {
	Max int64 // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("media: the file is larger than %d bytes", e.Max)
}

// Mismatch is the error of a file that is not what was promised.
type Mismatch struct {
	Field     string // "size", "sha256" or "type"
	Want, Got string // "audio/ogg" and "text/html"
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("media: %s: promised %s, got %s", e.Field, e.Want, e.Got)
}

// full marks the errors of a file system that has no room.
func full(err error) error {
	for _, e := range noRoom {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	return err
}
