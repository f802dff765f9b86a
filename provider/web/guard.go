package web

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"go.mau.fi/util/dbutil"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// errLost reports that another process has the lease of the reference.
var errLost = errors.New("web: another process has the lease of the reference")

// leased reports whether this process may still act for a reference.
func leased(ref provider.Reference) bool { return ref.Leased == nil || ref.Leased() }

// guarded is the database that whatsmeow's store of one reference uses. It
// refuses to write when another process has the lease, whose keys a write would
// corrupt, and it writes one transaction at a time with the rest of the process.
type guarded struct {
	*sql.DB
	db           *database.DB
	ref          provider.Reference
	fail         func()           // called when a received message could not be stored; nil: none is received
	wrapped      *dbutil.Database // whatsmeow's view of the database, with its transactions
	contactStore contactStore
}

// write runs fn while no other call writes.
func (g *guarded) write(ctx context.Context, fn func() error) error {
	return g.db.Alone(ctx, func() error {
		if !leased(g.ref) {
			return errLost
		}
		return fn()
	})
}

// ExecContext writes outside of transactions. Writes inside of transactions go
// through [buffer] and [sessions], or are copies of data that the network has.
func (g *guarded) ExecContext(ctx context.Context, query string, args ...any) (res sql.Result, err error) {
	err = g.write(ctx, func() (err error) {
		res, err = g.DB.ExecContext(ctx, query, args...)
		return err
	})
	return res, err
}

// sessions are the keys shared with the devices of others. It guards the writes
// that whatsmeow makes in its own transactions.
type sessions struct {
	store.SessionStore
	g *guarded
}

// PutSession stores the keys that were used with a device.
func (s *sessions) PutSession(ctx context.Context, address string, session []byte) error {
	if from, ok := ctx.Value(senderKey{}).(*string); ok {
		*from = address
	}
	return s.SessionStore.PutSession(ctx, address, session)
}

// PutManySessions stores the keys that a message was encrypted with.
func (s *sessions) PutManySessions(ctx context.Context, all map[string][]byte) error {
	return s.g.write(ctx, func() error { return s.SessionStore.PutManySessions(ctx, all) })
}

// MigratePNToLID renames the keys of a person whose LID became known.
func (s *sessions) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	return s.g.write(ctx, func() error { return s.SessionStore.MigratePNToLID(ctx, pn, lid) })
}

// buffer keeps decrypted messages until they are stored. If the store fails,
// whatsmeow must neither acknowledge the message nor report that it could not be
// decrypted: the network then sends it again.
type buffer struct {
	store.EventBuffer
	g   *guarded
	dev *store.Device
}

// DoDecryptionTxn decrypts a message and stores the new keys with the plain text.
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

// refused aborts the connection after a message could not be stored, and returns
// err. The network then sends the message again before later ones; whatsmeow
// acknowledges nothing on a connection that has ended.
func (b *buffer) refused(ctx context.Context, err error) error {
	if ctx.Err() == nil && b.g.fail != nil {
		b.g.fail()
	}
	return err
}

// GetBufferedEvent returns a message that was decrypted before.
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

// PutBufferedEvent stores a decrypted message. It also stores a notice of
// history, because whatsmeow acknowledges the notice before the handler gets it.
func (b *buffer) PutBufferedEvent(ctx context.Context, hash [32]byte, text []byte, at time.Time) error {
	err := b.EventBuffer.PutBufferedEvent(ctx, hash, text, at)
	if err == nil && b.g.ref.Settings[settingHistory] == "true" && b.own(ctx) {
		err = b.g.keepNotice(ctx, noticeIn(text), at)
	}
	return err
}

// senderKey is the context key of the address whose keys decrypted a message.
// whatsmeow stores these keys with [sessions] before the plain text.
type senderKey struct{}

// own reports whether the message that is being decrypted came from a device of
// the account itself.
func (b *buffer) own(ctx context.Context) bool {
	from, ok := ctx.Value(senderKey{}).(*string)
	if !ok {
		return false
	}
	user, _, _ := strings.Cut(*from, ":")
	return user == b.dev.GetJID().SignalAddressUser() || user == b.dev.GetLID().SignalAddressUser()
}

// ofStore reports whether err is an error of the database or of a session that
// ends, and not of the message.
func ofStore(err error) bool {
	return database.Failed(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
