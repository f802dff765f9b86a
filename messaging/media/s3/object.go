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

// headSize is what the first request asks for: the bytes by which a reader
// tells what a file is, and the whole of a small one.
const headSize = 4 << 10

// object reads a file by requests for ranges: one for its head, and one from
// wherever a read continues without the bytes at hand.
type object struct {
	ctx    context.Context // of Open, since a read has none
	b      *Bucket
	id     string
	etag   string // so that all reads see one version
	size   int64
	head   []byte
	offset int64         // of the next read
	body   io.ReadCloser // what follows offset, or nil
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
			return o, nil // a file of no bytes
		}
		return nil, lookup(id, err)
	}
	defer body.Close()
	if o.head, err = io.ReadAll(io.LimitReader(body, headSize)); err != nil {
		return nil, fmt.Errorf("reading file %s: %w", id, err)
	}
	return o, nil
}

// get asks for the bytes from and to, the last included; −1: to the end.
func (o *object) get(from, to int64) (io.ReadCloser, error) {
	opts := minio.GetObjectOptions{}
	opts.Set("Range", span(from, to))
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil {
			return nil, err
		}
	}
	body, info, header, err := o.b.client.GetObject(o.ctx, o.b.name, o.b.prefix+o.id, opts)
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

// total is the size of the whole object in "bytes 0-4095/70000", or length
// when the answer has no range.
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
		err = nil // the next read says so
	}
	return n, err
}

// Seek implements [io.Seeker]. It asks for nothing.
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

// drop ends the request under way.
func (o *object) drop() {
	if o.body != nil {
		_ = o.body.Close()
		o.body = nil
	}
}
