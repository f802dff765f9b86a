package provider

import (
	"context"
	"errors"
	"io"
)

// ErrMismatch is wrapped by the error of a file whose digest differs from the
// announced one.
var ErrMismatch = errors.New("the file is not the one that was promised")

// MediaFetcher is a Session that can fetch the file of a received [Media] by
// its ID or URL.
type MediaFetcher interface {
	// Fetch copies the file to w in a stream, and returns the SHA256 and Size
	// of the bytes that it wrote. After an error, w may have received a part. A
	// [*Rejected] says that the file no longer exists, a [*Temporary] that a
	// retry with a new w may succeed.
	Fetch(ctx context.Context, m Media, w io.Writer) (File, error)
}
