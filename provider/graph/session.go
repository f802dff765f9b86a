package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/provider"
)

// ErrClosed is why a closed session calls nothing.
var ErrClosed = errors.New("graph: the session is closed")

// Closing is the end of a session that has no connection of its own. The zero
// value is open.
type Closing struct{ closed atomic.Bool }

// Close makes the session refuse further calls; those under way finish.
func (c *Closing) Close(context.Context) error {
	c.closed.Store(true)
	return nil
}

// Alive is nil until the session is closed, then a [*provider.Temporary].
func (c *Closing) Alive() error {
	if c.closed.Load() {
		return &provider.Temporary{Err: ErrClosed}
	}
	return nil
}

// OpenFile opens a file that is to be uploaded. Its errors are those of a send
// that certainly did not leave.
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

// TooLarge says that a file has more bytes than may be sent of its kind.
func TooLarge(kind provider.MediaKind, limit int64) *provider.Invalid {
	return &provider.Invalid{Field: "message.mediaId", Message: fmt.Sprintf("must be of at most %d KiB as %s", limit>>10, kind)}
}

// Size holds what is known of a file's size against the most of its kind.
func (r *Rules) Size(kind provider.MediaKind, size, limit int64) {
	if size > limit {
		e := TooLarge(kind, limit)
		r.Fail(e.Field, "%s", e.Message)
	}
}
