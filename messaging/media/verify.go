package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"sync"
)

// ErrDamaged reports a file with other content than when it was stored.
var ErrDamaged = errors.New("media: the file is damaged in the store")

// Digest returns the SHA-256 digest of a file when it was stored, or nil if that is not
// known.
type Digest func(ctx context.Context, id string) ([]byte, error)

// OpenVerified is [Library.Open] of a file that is compared with a digest while it is
// read. If it is read from its first byte to its last, without seeking, and differs, the
// last part is not returned, but [ErrDamaged].
func (l *Library) OpenVerified(ctx context.Context, id string, digest Digest) (Object, error) {
	obj, err := l.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return &verified{Object: obj, sum: sha256.New(), digest: sync.OnceValues(func() ([]byte, error) { return digest(ctx, id) })}, nil
}

// Verify has [Library.ServeHTTP] compare the files that it serves: a damaged one is cut
// off, so that its receiver does not take it for the whole. Files whose digest is not
// known, or cannot be found out, are served, and so are ranges.
func (l *Library) Verify(digest Digest) { l.digest.Store(&digest) }

// verified is a file that is compared with its digest.
type verified struct {
	Object
	sum    hash.Hash
	read   int64 // bytes in sum
	at     int64 // where the next read is
	digest func() ([]byte, error)
}

// Read implements [io.Reader].
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.Object.Read(p)
	if v.at == v.read {
		v.sum.Write(p[:n])
		v.read += int64(n)
	}
	v.at += int64(n)
	if v.read == v.Size() && v.at == v.read && v.differs() {
		return 0, ErrDamaged
	}
	return n, err
}

// Seek implements [io.Seeker].
func (v *verified) Seek(offset int64, whence int) (int64, error) {
	at, err := v.Object.Seek(offset, whence)
	if err == nil {
		v.at = at
		if at == 0 {
			v.sum.Reset()
			v.read = 0
		}
	}
	return at, err
}

// differs reports whether all was read, and is not what was stored.
func (v *verified) differs() bool {
	want, err := v.digest()
	return err == nil && len(want) > 0 && !bytes.Equal(v.sum.Sum(nil), want)
}
