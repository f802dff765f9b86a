package web

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/store"

	"github.com/trunklinehq/trunkline/internal/database"
)

// buffer keeps what was decrypted until it is stored. Of a message that the
// store could not take in, whatsmeow must say nothing to the network, neither
// that it has come nor that it could not be read: it comes again then.
type buffer struct {
	store.EventBuffer
	g *guarded
}

// unsaid is an error after which whatsmeow says nothing.
type unsaid struct{ error }

func (unsaid) Is(target error) bool { return target == context.Canceled }
func (u unsaid) Unwrap() error      { return u.error }

// DoDecryptionTxn decrypts, and stores the ratchet's new state with the text.
func (b *buffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	var inside error
	err := b.g.write(ctx, func() error {
		return b.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
			inside = fn(ctx)
			if inside == nil && !held(b.g.ref) {
				return errLost
			}
			return inside
		})
	})
	if err != nil && (inside == nil || ofStore(inside)) {
		return unsaid{err}
	}
	return err
}

// GetBufferedEvent returns what was decrypted before.
func (b *buffer) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	if !held(b.g.ref) {
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

// ofStore tells an error of the database, or of a session that ends, from one
// of what was received.
func ofStore(err error) bool {
	return database.Failed(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
