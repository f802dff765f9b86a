package destination

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/trunklinehq/trunkline/internal/bucket"
)

// objects is a [Destination] in a bucket.
type objects struct{ in *bucket.Bucket }

func openBucket(ctx context.Context, address string) (Destination, error) {
	b, err := bucket.Open(ctx, address, bucket.Keys{})
	if err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	return &objects{b}, nil
}

// Create implements [Destination].
func (o *objects) Create() (*os.File, error) {
	file, err := os.CreateTemp("", "trunkline-*"+suffix)
	if err != nil {
		return nil, fmt.Errorf("keeping a backup: %w", err)
	}
	return file, nil
}

// List implements [Destination].
func (o *objects) List(ctx context.Context) (names []string, err error) {
	for object := range o.in.Client.ListObjectsIter(ctx, o.in.Name, minio.ListObjectsOptions{Prefix: o.in.Prefix}) {
		if object.Err != nil {
			return nil, fmt.Errorf("listing backups: %w", object.Err)
		}
		name := strings.TrimPrefix(object.Key, o.in.Prefix)
		if _, ok := Time(name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Put implements [Destination]. A large file is sent in parts, of which a killed
// process leaves some behind: a rule of the bucket can remove them.
func (o *objects) Put(ctx context.Context, name, path string) error {
	if err := check(name); err != nil {
		return err
	}
	_, err := o.in.Client.FPutObject(ctx, o.in.Name, o.in.Prefix+name, path, minio.PutObjectOptions{ContentType: "application/zip"})
	if err != nil {
		return fmt.Errorf("keeping a backup: %w", err)
	}
	return nil
}

// Fetch implements [Destination].
func (o *objects) Fetch(ctx context.Context, name string) (path string, done func(), err error) {
	if err := check(name); err != nil {
		return "", nil, err
	}
	file, err := o.Create()
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.Remove(file.Name()) }
	if err = errors.Join(o.copyTo(ctx, name, file), file.Close()); err != nil {
		done()
		return "", nil, err
	}
	return file.Name(), done, nil
}

func (o *objects) copyTo(ctx context.Context, name string, w io.Writer) error {
	body, _, _, err := o.in.Client.GetObject(ctx, o.in.Name, o.in.Prefix+name, minio.GetObjectOptions{})
	switch {
	case err == nil:
	case bucket.IsMissing(err):
		return ErrNotFound
	default:
		return fmt.Errorf("fetching a backup: %w", err)
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		return fmt.Errorf("fetching a backup: %w", err)
	}
	return nil
}

// Delete implements [Destination].
func (o *objects) Delete(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	err := o.in.Client.RemoveObject(ctx, o.in.Name, o.in.Prefix+name, minio.RemoveObjectOptions{})
	if err != nil && !bucket.IsMissing(err) {
		return fmt.Errorf("deleting a backup: %w", err)
	}
	return nil
}
