package messaging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/messaging/internal/callback"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Errors of [DeadLetters].
var (
	// ErrNoDeadLetter reports that the reference has no such dead letter, or no
	// longer: a replay that succeeds removes it.
	ErrNoDeadLetter = callback.ErrNoLetter
	// ErrNotReplayable reports a dead letter without its surroundings. See
	// DeadLetter.Replayable.
	ErrNotReplayable error = callback.ErrNotReplayable
)

// DeadLetter is an item of a callback that could not be read or stored.
type DeadLetter struct {
	ID         string
	Reason     string // why; after a replay, why it failed
	Size       int    // of Body in characters
	Replayable bool   // false: the item came by no callback, depends on its neighbours, or was stored by an older version
	Replays    int    // how often a replay failed
	ReplayedAt time.Time
	ReceivedAt time.Time
	Body       string // what the network sent; "" in lists
}

// DeadLetters are the dead letters of an account.
type DeadLetters Account

// DeadLetters returns the dead letters of the account.
func (a *Account) DeadLetters() *DeadLetters { return (*DeadLetters)(a) }

// List returns the dead letters of a reference, newest first, without their bodies.
func (a *DeadLetters) List(ctx context.Context, ref provider.ReferenceID, l List) (Page[DeadLetter], error) {
	return a.list(ctx, ref, l, `id < `, `id DESC`)
}

func (a *DeadLetters) list(ctx context.Context, ref provider.ReferenceID, l List, after, order string) (Page[DeadLetter], error) {
	at, limit, err := position(l, 1)
	if err != nil {
		return Page[DeadLetter]{}, err
	}
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return Page[DeadLetter]{}, err
	}
	p := store.Params{ref}
	q := `SELECT ` + callback.LetterColumns + ` FROM messaging_dead_letter WHERE reference = $1`
	if at != nil {
		q += ` AND ` + after + p.Add(at[0])
	}
	var rows []*callback.Letter
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY `+order+` LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[DeadLetter]{}, fmt.Errorf("listing dead letters: %w", err)
	}
	return page.CutAt(rows, limit, func(r *callback.Letter) string { return page.Cursor{r.ID}.String() }, deadLetterOf), nil
}

func deadLetterOf(r *callback.Letter) DeadLetter {
	return DeadLetter{
		ID: r.LetterID, Reason: r.Reason, Size: r.Size, Replayable: r.Replayable, Replays: r.Replays,
		ReplayedAt: database.Time(r.ReplayedUS), ReceivedAt: database.Time(r.CreatedUS), Body: r.Body,
	}
}

// Get returns one dead letter with its body, or [ErrNoDeadLetter].
func (a *DeadLetters) Get(ctx context.Context, ref provider.ReferenceID, id string) (DeadLetter, error) {
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return DeadLetter{}, err
	}
	row, err := a.s.callbacks.Letter(ctx, ref, id)
	if err != nil {
		return DeadLetter{}, err
	}
	return deadLetterOf(row), nil
}

// Replay reads a dead letter again, as if the network had sent it again now. If that
// succeeds, the events are stored, the dead letter is deleted in the same transaction,
// and reason is "". If not, the dead letter remains with the new reason and a higher
// count of replays. The error is [ErrNotReplayable] or [ErrNoDeadLetter], also if
// another replay has just succeeded.
func (a *DeadLetters) Replay(ctx context.Context, ref provider.ReferenceID, id string) (reason string, err error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return "", err
	}
	return a.replay(ctx, row, p, id, func(ctx context.Context, tx *database.Tx, reason string) error {
		return audit.RecordTx(ctx, tx, audit.Entry{
			Action: audit.CallbackReplay, ObjectID: id, Reference: int64(ref), Details: map[string]any{"replayed": reason == ""},
		})
	})
}

func (a *DeadLetters) replay(
	ctx context.Context, row *store.Reference, p provider.Provider, id string, then func(ctx context.Context, tx *database.Tx, reason string) error,
) (string, error) {
	letter, err := a.s.callbacks.Letter(ctx, row.ID, id)
	if err != nil {
		return "", err
	}
	return a.s.callbacks.Replay(ctx, row, p, letter, then)
}

// ReplayedDeadLetters counts what became of the dead letters of a page.
type ReplayedDeadLetters struct {
	Replayed int    // read, stored and deleted
	Failed   int    // still there
	Next     string // the cursor of the next page; "": there is none
}

// ReplayAll replays a page of the dead letters of a reference, oldest first. Each has
// a transaction of its own; after an error those before it are replayed.
func (a *DeadLetters) ReplayAll(ctx context.Context, ref provider.ReferenceID, l List) (ReplayedDeadLetters, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return ReplayedDeadLetters{}, err
	}
	letters, err := a.list(ctx, ref, l, `id > `, `id`)
	if err != nil || len(letters.Items) == 0 {
		return ReplayedDeadLetters{}, err
	}
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		return audit.RecordTx(ctx, tx, audit.Entry{
			Action: audit.CallbackReplay, Reference: int64(ref), Details: map[string]any{"deadLetters": len(letters.Items)},
		})
	})
	if err != nil {
		return ReplayedDeadLetters{}, err
	}
	out := ReplayedDeadLetters{Next: letters.Next}
	for _, letter := range letters.Items {
		reason, err := a.replay(ctx, row, p, letter.ID, func(context.Context, *database.Tx, string) error { return nil })
		switch {
		case errors.Is(err, ErrNoDeadLetter): // another caller was first
		case errors.Is(err, ErrNotReplayable), err == nil && reason != "":
			out.Failed++
		case err != nil:
			return out, err
		default:
			out.Replayed++
		}
	}
	return out, nil
}

// Delete deletes a dead letter. What it reports is lost then.
func (a *DeadLetters) Delete(ctx context.Context, ref provider.ReferenceID, id string) error {
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return err
	}
	return a.s.callbacks.DeleteLetter(ctx, ref, id, func(ctx context.Context, tx *database.Tx) error {
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.CallbackDelete, ObjectID: id, Reference: int64(ref)})
	})
}
