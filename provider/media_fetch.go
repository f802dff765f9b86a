package provider

import (
	"context"
	"errors"
	"io"
)

// ErrMismatch is wrapped by the error of a file that is not the one that was
// promised: its digest differs.
var ErrMismatch = errors.New("the file is not the one that was promised")

// MediaFetcher is a Session that can fetch the file of a received [Media] by
// its ID or URL.
type MediaFetcher interface {
	// Fetch copies the file to w, never holding all of it, and returns what it
	// learned: SHA256 and Size are those of the bytes that w got. After an
	// error w may have got a part. A [*Rejected] says that the file is gone for
	// good, a [*Temporary] that another try, with a new w, may bring it.
	Fetch(ctx context.Context, m Media, w io.Writer) (File, error)
}
