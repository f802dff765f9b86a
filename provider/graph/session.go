package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/provider"
)

// ErrClosed is returned by the calls of a closed session.
var ErrClosed = errors.New("graph: the session is closed")

// Closing records that a session was closed, for sessions without a connection.
// The zero value is open.
type Closing struct{ closed atomic.Bool }

// Close makes the session refuse further calls. It does not interrupt calls.
func (c *Closing) Close(context.Context) error {
	c.closed.Store(true)
	return nil
}

// Alive returns nil until the session is closed, then a [*provider.Temporary].
func (c *Closing) Alive() error {
	if c.closed.Load() {
		return &provider.Temporary{Err: ErrClosed}
	}
	return nil
}

// OpenFile opens a file to upload. Its errors are those of a send that has
// certainly not happened.
func OpenFile(ctx context.Context, file provider.Media) (io.ReadCloser, error) {
	if file.Open == nil {
		return nil, &provider.Unsupported{What: "a file that cannot be opened (message.mediaId)"}
	}
	from, err := file.Open(ctx)
	if err != nil {
		return nil, &provider.Temporary{Err: fmt.Errorf("graph: opening a file: %w", err)}
	}
	return from, nil
}

// TooLarge says that a file is larger than allowed for its kind.
func TooLarge(kind provider.MediaKind, limit int64) *provider.Invalid {
	return &provider.Invalid{Field: "message.mediaId", Message: fmt.Sprintf("must be of at most %d KiB as %s", limit>>10, kind)}
}

// Size checks the size of a file, if it is known, against the limit of its
// kind.
func (r *Rules) Size(kind provider.MediaKind, size, limit int64) {
	if size > limit {
		e := TooLarge(kind, limit)
		r.Fail(e.Field, "%s", e.Message)
	}
}
