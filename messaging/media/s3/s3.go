// Package s3 is a [media.Store] in a bucket of Amazon S3 or of a compatible
// service, for nodes that share no file system.
//
// The key needs the permissions GetObject, PutObject and DeleteObject on the
// objects and ListBucket on the bucket: without the latter S3 does not report that
// a file is missing.
package s3

import (
	"context"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/trunklinehq/trunkline/internal/bucket"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// Options configures a [Bucket].
type Options struct {
	// AccessKey and SecretKey sign requests. "": AWS_ACCESS_KEY_ID and
	// AWS_SECRET_ACCESS_KEY of the environment, else ~/.aws/credentials, else, at
	// Amazon, the machine's own role.
	AccessKey, SecretKey string
}

// Bucket is a [media.Store]. Each file is one object, written by one request.
type Bucket struct{ in *bucket.Bucket }

var _ media.Store = (*Bucket)(nil)

// Open returns the bucket of rawURL, after a request to check that it exists:
//
//	s3://bucket?endpoint=https://s3.example.com&region=eu-west-1&prefix=media/
//
// endpoint is a host or an address; without it the bucket is Amazon's. region
// defaults to us-east-1, prefix to "".
func Open(ctx context.Context, rawURL string, opts *Options) (*Bucket, error) {
	var keys bucket.Keys
	if opts != nil {
		keys = bucket.Keys{Access: opts.AccessKey, Secret: opts.SecretKey}
	}
	b, err := bucket.Open(ctx, rawURL, keys)
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	return &Bucket{b}, nil
}

// Put implements [media.Store].
func (b *Bucket) Put(ctx context.Context, id string, r io.Reader, size int64) error {
	if err := media.CheckID(id); err != nil {
		return err
	}
	// One request leaves no parts behind if the process is killed.
	_, err := b.in.Client.Client.PutObject(ctx, b.in.Name, b.in.Prefix+id, r, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	if err != nil {
		return fmt.Errorf("storing file %s: %w", id, err)
	}
	return nil
}

// Size implements [media.Store].
func (b *Bucket) Size(ctx context.Context, id string) (int64, error) {
	if err := media.CheckID(id); err != nil {
		return 0, err
	}
	info, err := b.in.Client.StatObject(ctx, b.in.Name, b.in.Prefix+id, minio.StatObjectOptions{})
	if err != nil {
		return 0, lookup(id, err)
	}
	return info.Size, nil
}

// Delete implements [media.Store].
func (b *Bucket) Delete(ctx context.Context, id string) error {
	if err := media.CheckID(id); err != nil {
		return err
	}
	err := b.in.Client.RemoveObject(ctx, b.in.Name, b.in.Prefix+id, minio.RemoveObjectOptions{})
	if err != nil && !bucket.IsMissing(err) {
		return fmt.Errorf("deleting file %s: %w", id, err)
	}
	return nil
}

func lookup(id string, err error) error {
	if bucket.IsMissing(err) {
		return media.ErrNotFound
	}
	return fmt.Errorf("opening file %s: %w", id, err)
}
