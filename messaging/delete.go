package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Eraser keeps data of contacts outside of this package, and erases it.
type Eraser interface {
	// Erase erases the data of a contact, in small transactions of its own. It
	// is called again after an error or a crash.
	Erase(ctx context.Context, e Erased) error
}

// DeleteChat erases what is held on a contact or a group, here, in a provider
// that is a [provider.Eraser] and in Options.Erasers: the chat with its messages and files, what the contact
// wrote in groups, and what the network reported of it. What comes later begins
// a new chat. An id without any data is [ErrNotFound]. It is
// [Account.HideChat] and [Account.Erase]: a caller who wants to continue after a
// crash calls those.
func (a *Account) DeleteChat(ctx context.Context, ref provider.ReferenceID, chatID string) error {
	e, err := a.HideChat(ctx, ref, chatID, nil)
	if err != nil {
		return err
	}
	return a.Erase(ctx, e)
}

// HideChat begins to delete a contact or a group in one small transaction: from
// its commit on the chat is not found, and what comes begins a new one. Then,
// which may be nil, is part of the transaction; it may run more than once.
func (a *Account) HideChat(
	ctx context.Context, ref provider.ReferenceID, chatID string, then func(ctx context.Context, tx *database.Tx, e Erasure) error,
) (Erasure, error) {
	who, err := a.s.recipients.Person(ctx, a.s.db, a.id, ref, chatID)
	if err != nil {
		return Erasure{}, err
	}
	l, addr := who.Reference, who.Address
	if err := a.s.privacy.HoldsAnything(ctx, l, addr); err != nil {
		return Erasure{}, err
	}
	if err := a.s.store.FinishMerges(ctx, l, addr); err != nil {
		return Erasure{}, err
	}
	var out Erasure
	err = a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		out, err = a.s.privacy.Hide(ctx, u, l, addr)
		if err == nil { // whom, is not said: it would be kept
			err = recordChatTx(ctx, u.Tx, audit.ChatErase, ref, "", nil)
		}
		if err == nil && then != nil {
			err = then(ctx, u.Tx, out)
		}
		return err
	})
	return out, err
}

// Erase removes what a deletion has hidden, in small transactions between which
// others write. It may be called again after an error or a crash, and also when
// all is removed.
func (a *Account) Erase(ctx context.Context, e Erasure) error {
	if e.Subject == nil {
		return a.s.privacy.EraseReference(ctx, deletedAccount(a.id), e.Reference)
	}
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, e.Reference)
	if errors.Is(err, ErrNotFound) {
		return nil // with all that belonged to it
	}
	if err != nil {
		return err
	}
	return a.s.privacy.EraseChat(ctx, row.Info(p), e)
}

func deletedAccount(account string) string { return store.DeletedPrefix + account }

// Delete removes a reference with its chats, messages and files. It is
// [References.Hide] and [Account.Erase]: a caller that must continue after a crash
// calls those.
func (a *References) Delete(ctx context.Context, id provider.ReferenceID) error {
	e, err := a.Hide(ctx, id, nil)
	if err != nil {
		return err
	}
	return (*Account)(a).Erase(ctx, e)
}

// Hide begins to delete a reference in one small transaction. From its commit on
// the reference is not found, receives nothing, and sends nothing that waits.
// [Account.Erase] removes the rest. The function then, which may be nil, is part
// of the transaction; it may run more than once.
func (a *References) Hide(
	ctx context.Context, id provider.ReferenceID, then func(ctx context.Context, tx *database.Tx, e Erasure) error,
) (Erasure, error) {
	e := Erasure{Reference: id, At: a.s.now()}
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		row := &store.Reference{}
		err := tx.GetContext(ctx, row, `UPDATE messaging_reference SET account = $1, line_key = '', group_key = '', verify_hash = ''
			WHERE id = $2 AND account = $3 RETURNING id, name`, deletedAccount(a.id), id, a.id)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("hiding a reference: %w", err)
		}
		if err := recordReferenceTx(ctx, tx, audit.ReferenceDelete, row, nil); err != nil {
			return err
		}
		if err := connection.DesireUnlinked(ctx, a.s.store.Begin(tx), id); err != nil {
			return err
		}
		if then != nil {
			return then(ctx, tx, e)
		}
		return nil
	})
	if err != nil {
		return Erasure{}, err
	}
	a.s.referenceDropped(id)
	return e, nil
}

// DeleteAll removes everything of the account: first its sessions end, then its
// references go with their chats, messages and files. It works in small steps, each
// durable, and may be called again after an error or a crash. Nothing may be
// added to the account meanwhile but what its networks still report.
func (a *Account) DeleteAll(ctx context.Context) error {
	for {
		var ids []provider.ReferenceID
		err := a.s.db.SelectContext(ctx, &ids, `SELECT id FROM messaging_reference WHERE account = $1 ORDER BY id LIMIT 100`, a.id)
		if err != nil {
			return fmt.Errorf("listing references: %w", err)
		}
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if _, err := a.Sessions().Logout(ctx, id); err != nil {
				return err
			}
			if err := a.s.privacy.EraseReference(ctx, a.id, id); err != nil {
				return fmt.Errorf("erasing reference %d: %w", id, err)
			}
		}
	}
	if err := a.s.privacy.EraseFiles(ctx, a.id); err != nil {
		return err
	}
	return errors.Join(
		a.s.privacy.EraseAccount(ctx, a.id),
		a.s.db.InTx(ctx, func(tx *database.Tx) error { return a.s.used.ForgetTx(ctx, tx, a.id) }),
	)
}

// eraseElsewhere erases the data of a contact in all erasers.
func (s *Service) eraseElsewhere(ctx context.Context, e Erased) error {
	for _, eraser := range s.opts.Erasers {
		if err := eraser.Erase(ctx, e); err != nil {
			return fmt.Errorf("erasing in %T: %w", eraser, err)
		}
	}
	return nil
}

// referenceDropped ends what this node has of a reference that is deleted.
func (s *Service) referenceDropped(id provider.ReferenceID) {
	s.connections.Drop(id)
	s.connections.Notify()
	s.referencesChanged()
}
