package provider

import (
	"context"
	"time"
)

// MediaUploader is a Session whose network stores files for a while, so that a
// file that is sent often is uploaded once.
type MediaUploader interface {
	// UploadMedia uploads the file of m, which m.Open returns. It returns the
	// ID to send the file by and when that expires. It may be repeated: no
	// error is ambiguous.
	UploadMedia(ctx context.Context, m Media) (id string, until time.Time, err error)
}
