package provider

import (
	"context"
	"io"
)

// MediaFetcher is a Session that can fetch the file of a received [Media] by
// its ID or URL.
type MediaFetcher interface {
	// Fetch copies the file to w, never holding all of it, and returns what it
	// learned: SHA256 and Size are those of the bytes that w got. After an
	// error w may have got a part. A [*Rejected] says that the file is gone for
	// good, a [*Temporary] that another try, with a new w, may bring it.
	Fetch(ctx context.Context, m Media, w io.Writer) (File, error)
}
