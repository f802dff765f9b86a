// Package destination keeps backups in a folder, or in a bucket of Amazon S3 or of a
// compatible service.
//
//	to, err := destination.Open(ctx, "s3://backups?endpoint=https://s3.example.com")
//	file, err := to.Create()
//	err = to.Put(ctx, destination.Name(time.Now()), file.Name())
//	names, err := to.List(ctx)
package destination

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// ErrNotFound reports a backup that does not exist.
var ErrNotFound = errors.New("destination: there is no such backup")

// Destination keeps backups by their names.
type Destination interface {
	// Create returns a new private file, of mode 0600, for a backup that Put takes.
	Create() (*os.File, error)
	// List returns the names of the backups that have a name of [Name], oldest first.
	List(ctx context.Context) ([]string, error)
	// Put takes a file of Create, which is closed, and keeps it under a name, completely
	// or not at all. Afterwards there is nothing at path, or what may be removed.
	Put(ctx context.Context, name, path string) error
	// Fetch returns the path of a file with a backup, until done is called. The error
	// is [ErrNotFound], or that of the system or of a request.
	Fetch(ctx context.Context, name string) (path string, done func(), err error)
	// Delete deletes a backup. One that is missing is no error.
	Delete(ctx context.Context, name string) error
}

// Open opens the destination of an address: a folder, which is created if it is
// missing, or
//
//	s3://bucket?endpoint=https://s3.example.com&region=eu-west-1&prefix=backups/
//
// endpoint is a host or an address; without it the bucket is Amazon's. region
// defaults to us-east-1, prefix to "". The keys come from the environment, from
// ~/.aws/credentials or from the machine, and need the permissions GetObject,
// PutObject and DeleteObject on the objects and ListBucket on the bucket.
func Open(ctx context.Context, address string) (Destination, error) {
	if strings.HasPrefix(address, "s3://") {
		return openBucket(ctx, address)
	}
	return openFolder(address)
}

const layout = "2006-01-02T150405Z"

// suffix ends the names of backups.
const suffix = ".trunkline"

// Name returns the name of a backup that was made at a time, to the second:
// "2026-11-28T062500Z.trunkline". Names are in the order of time.
func Name(at time.Time) string { return at.UTC().Format(layout) + suffix }

// Time returns the time of a name of [Name].
func Time(name string) (at time.Time, ok bool) {
	text, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return at, false
	}
	at, err := time.Parse(layout, text)
	return at, err == nil
}

// Prune deletes all but the newest backups.
func Prune(ctx context.Context, d Destination, keep int) error {
	names, err := d.List(ctx)
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-keep)] {
		if err := d.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// check refuses names that would lead out of the destination.
func check(name string) error {
	if name == "" || strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		return fmt.Errorf("destination: %q is not the name of a backup", name)
	}
	return nil
}
