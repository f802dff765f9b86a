package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// headSize is the size of the first request: enough to detect the type of a file,
// and all of a small one.
const headSize = 4 << 10

// object reads a file by range requests: one for its head, and one from each
// position at which a read continues elsewhere.
type object struct {
	ctx    context.Context // of Open, since a read has none
	b      *Bucket
	id     string
	etag   string // so that all reads see the same version
	size   int64
	head   []byte
	offset int64         // of the next read
	body   io.ReadCloser // the content from offset on, or nil
}

// Open implements [media.Store].
func (b *Bucket) Open(ctx context.Context, id string) (media.Object, error) {
	if err := media.CheckID(id); err != nil {
		return nil, err
	}
	o := &object{ctx: ctx, b: b, id: id}
	body, err := o.get(0, headSize-1)
	if err != nil {
		if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
			return o, nil // an empty file
		}
		return nil, lookup(id, err)
	}
	defer body.Close()
	if o.head, err = io.ReadAll(io.LimitReader(body, headSize)); err != nil {
		return nil, fmt.Errorf("reading file %s: %w", id, err)
	}
	return o, nil
}

// get requests the bytes from from to to, inclusive; −1: to the end.
func (o *object) get(from, to int64) (io.ReadCloser, error) {
	opts := minio.GetObjectOptions{}
	opts.Set("Range", span(from, to))
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil {
			return nil, err
		}
	}
	body, info, header, err := o.b.in.Client.GetObject(o.ctx, o.b.in.Name, o.b.in.Prefix+o.id, opts)
	if err != nil {
		return nil, err
	}
	if o.etag == "" {
		o.etag, o.size = info.ETag, total(header.Get("Content-Range"), info.Size)
	}
	return body, nil
}

func span(from, to int64) string {
	if to < 0 {
		return fmt.Sprintf("bytes=%d-", from)
	}
	return fmt.Sprintf("bytes=%d-%d", from, to)
}

// total returns the size of the whole object in "bytes 0-4095/70000", or length if
// the response has no range.
func total(contentRange string, length int64) int64 {
	var from, to, size int64
	if _, err := fmt.Sscanf(contentRange, "bytes %d-%d/%d", &from, &to, &size); err == nil {
		return size
	}
	return length
}

// Size implements [media.Object].
func (o *object) Size() int64 { return o.size }

// Read implements [io.Reader].
func (o *object) Read(p []byte) (int, error) {
	switch {
	case o.offset >= o.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	case o.offset < int64(len(o.head)):
		n := copy(p, o.head[o.offset:])
		o.offset += int64(n)
		return n, nil
	}
	if o.body == nil {
		body, err := o.get(o.offset, -1)
		if err != nil {
			return 0, fmt.Errorf("reading file %s: %w", o.id, err)
		}
		o.body = body
	}
	n, err := o.body.Read(p)
	o.offset += int64(n)
	switch {
	case errors.Is(err, io.EOF) && o.offset < o.size:
		err = io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		err = nil // the next read returns it
	}
	return n, err
}

// Seek implements [io.Seeker]. It makes no request.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("s3: seeking before the start")
	}
	if offset != o.offset {
		o.drop()
	}
	o.offset = offset
	return offset, nil
}

// Close implements [io.Closer].
func (o *object) Close() error {
	o.drop()
	return nil
}

// drop ends the current request.
func (o *object) drop() {
	if o.body != nil {
		_ = o.body.Close()
		o.body = nil
	}
}
