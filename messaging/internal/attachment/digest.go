package attachment

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
)

// openVerified opens a file of the library. Reading it to its end fails with
// media.ErrDamaged if its content is not what was stored; digest, in hexadecimal, is
// "" if that is not known.
func (fs *Files) openVerified(ctx context.Context, id, digest string) (io.ReadCloser, error) {
	return fs.Library.OpenVerified(ctx, id, func(context.Context, string) ([]byte, error) { return hex.DecodeString(digest) })
}

// Digest is a media.Digest of the library's files.
func (fs *Files) Digest(ctx context.Context, id string) ([]byte, error) {
	var found []string
	if err := fs.Store.DB.SelectContext(ctx, &found, `SELECT sha256 FROM messaging_media WHERE id = $1`, id); err != nil || len(found) == 0 {
		return nil, err
	}
	digest, err := hex.DecodeString(found[0])
	if err != nil {
		return nil, fmt.Errorf("reading the digest of a file: %w", err)
	}
	return digest, nil
}
