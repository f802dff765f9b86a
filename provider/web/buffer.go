package web

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/store"

	"github.com/trunklinehq/trunkline/internal/database"
)

// buffer keeps what was decrypted until it is stored. Of a message that the
// store could not take in, whatsmeow must say nothing to the network, neither
// that it has come nor that it could not be read: it comes again then.
type buffer struct {
	store.EventBuffer
	g   *guarded
	dev *store.Device
}

// DoDecryptionTxn decrypts, and stores the ratchet's new state with the text.
func (b *buffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	var inside error
	err := b.g.write(ctx, func() error {
		ctx := context.WithValue(ctx, senderKey{}, new(string))
		return b.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
			inside = fn(ctx)
			if inside == nil && !leased(b.g.ref) {
				return errLost
			}
			return inside
		})
	})
	if err != nil && (inside == nil || ofStore(inside)) {
		return b.refused(ctx, err)
	}
	return err
}

// refused is the error of a message that the store could not take in. The
// connection ends, so that the message comes again before those behind it: of
// one that has ended whatsmeow says nothing to the network.
func (b *buffer) refused(ctx context.Context, err error) error {
	if ctx.Err() == nil && b.g.fail != nil {
		b.g.fail()
	}
	return err
}

// GetBufferedEvent returns what was decrypted before.
func (b *buffer) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	if !leased(b.g.ref) {
		return nil, b.refused(ctx, errLost)
	}
	e, err := b.EventBuffer.GetBufferedEvent(ctx, hash)
	if err != nil {
		return nil, b.refused(ctx, err)
	}
	return e, nil
}

// PutBufferedEvent stores a text. A notice of history is kept with it:
// whatsmeow tells the phone that it has come before anybody else hears of it.
func (b *buffer) PutBufferedEvent(ctx context.Context, hash [32]byte, text []byte, at time.Time) error {
	err := b.EventBuffer.PutBufferedEvent(ctx, hash, text, at)
	if err == nil && b.g.ref.Settings[settingHistory] == "true" && b.own(ctx) {
		err = b.g.keepNotice(ctx, noticeIn(text), at)
	}
	return err
}

// senderKey finds in the context of a decryption whose keys were used: whatsmeow
// stores them with [sessions] before the text.
type senderKey struct{}

// own reports whether a device of the account itself has sealed what is being
// decrypted.
func (b *buffer) own(ctx context.Context) bool {
	from, ok := ctx.Value(senderKey{}).(*string)
	if !ok {
		return false
	}
	user, _, _ := strings.Cut(*from, ":")
	return user == b.dev.GetJID().SignalAddressUser() || user == b.dev.GetLID().SignalAddressUser()
}

// ofStore tells an error of the database, or of a session that ends, from one
// of what was received.
func ofStore(err error) bool {
	return database.Failed(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
