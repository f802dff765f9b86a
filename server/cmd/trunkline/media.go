package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

// openMedia opens the store of files.
func openMedia(ctx context.Context, set settings) (media.Store, error) {
	if strings.HasPrefix(set.Media, "s3://") {
		ctx, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		bucket, err := s3.Open(ctx, set.Media, nil)
		if err != nil {
			return nil, unusable("--media", "the bucket cannot be opened: "+redact(err.Error(), set.Media), err)
		}
		return bucket, nil
	}
	path := or(set.Media, filepath.Join(set.Data, "media"))
	f, err := media.OpenFolder(path)
	if err != nil {
		return nil, unusable("--media", noFolder(path, err), err)
	}
	return f, nil
}
