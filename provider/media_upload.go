package provider

import (
	"context"
	"time"
)

// MediaUploader is a Session whose network keeps files for a while, so that
// one that is sent often is handed over once.
type MediaUploader interface {
	// UploadMedia hands over the file of m, which its Open returns, and says
	// by which ID it can be sent until when. A repeat does no harm: no error
	// is ambiguous.
	UploadMedia(ctx context.Context, m Media) (id string, until time.Time, err error)
}
