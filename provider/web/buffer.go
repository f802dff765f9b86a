package web

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"time"

	"github.com/lib/pq"
	"go.mau.fi/whatsmeow/store"
	"modernc.org/sqlite"
)

// errLost reports that another process holds the line.
var errLost = errors.New("web: the line is held by another process")

// buffer keeps what was decrypted until it is stored. Of a message that the
// store could not take in, whatsmeow must say nothing to the network, neither
// that it has come nor that it could not be read: it comes again then.
type buffer struct {
	store.EventBuffer
	held func() bool
}

// unsaid is an error after which whatsmeow says nothing.
type unsaid struct{ error }

func (unsaid) Is(target error) bool { return target == context.Canceled }
func (u unsaid) Unwrap() error      { return u.error }

// DoDecryptionTxn decrypts, and stores the ratchet's new state with the text.
func (b *buffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	var inside error
	err := b.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		inside = fn(ctx)
		if inside == nil && b.held != nil && !b.held() {
			return errLost
		}
		return inside
	})
	if err != nil && (inside == nil || ofStore(inside)) {
		return unsaid{err}
	}
	return err
}

// GetBufferedEvent returns what was decrypted before.
func (b *buffer) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	if b.held != nil && !b.held() {
		return nil, unsaid{errLost}
	}
	e, err := b.EventBuffer.GetBufferedEvent(ctx, hash)
	if err != nil {
		return nil, unsaid{err}
	}
	return e, nil
}

// PutBufferedEvent stores a text.
func (b *buffer) PutBufferedEvent(ctx context.Context, hash [32]byte, text []byte, at time.Time) error {
	err := b.EventBuffer.PutBufferedEvent(ctx, hash, text, at)
	if err != nil {
		return unsaid{err}
	}
	return nil
}

// ofStore tells an error of the database from one of what was received.
func ofStore(err error) bool {
	var pg *pq.Error
	var lite *sqlite.Error
	var network net.Error
	return errors.As(err, &pg) || errors.As(err, &lite) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
