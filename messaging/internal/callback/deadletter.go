package callback

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Errors about dead letters.
var (
	// ErrNoLetter reports that the reference has no such dead letter, or no longer.
	ErrNoLetter = apierr.New("messaging", apierr.NotFound, "the reference has no such dead letter")
	// ErrNotReplayable reports a dead letter of which only the item was kept.
	ErrNotReplayable = &payload.Error{
		Code: payload.CodeUnsupported, Message: "this dead letter cannot be replayed: what surrounded it in the callback was not kept",
	}
)

// LetterColumns are the columns of a [Letter], but for the body and the part.
const LetterColumns = `id, letter_id, reason, length(body) AS size, part <> '' AS replayable, replays, replayed_us, created_us`

// Letter is a row of messaging_dead_letter.
type Letter struct {
	ID         int64  `db:"id"`
	LetterID   string `db:"letter_id"`
	Reason     string `db:"reason"`
	Size       int    `db:"size"`
	Replayable bool   `db:"replayable"`
	Replays    int    `db:"replays"`
	ReplayedUS int64  `db:"replayed_us"`
	CreatedUS  int64  `db:"created_us"`
	Body       string `db:"body"`
	NetworkID  string `db:"network_id"`
	Group      string `db:"group_id"`
	Part       string `db:"part"`
}

// Letter reads a dead letter with everything that is kept of it.
func (r *Router) Letter(ctx context.Context, ref provider.ReferenceID, id string) (*Letter, error) {
	out := &Letter{}
	err := r.Store.DB.GetContext(ctx, out, `SELECT `+LetterColumns+`, body, network_id, group_id, part FROM messaging_dead_letter
		WHERE letter_id = $1 AND reference = $2`, id, ref)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoLetter
	}
	if err != nil {
		return nil, fmt.Errorf("reading a dead letter: %w", err)
	}
	return out, nil
}

// Replay reads a dead letter again as its callback. If that succeeds, it deletes the
// letter and stores the events in one transaction, and reason is "". If the letter is
// still unreadable, it keeps the letter with the reason. The function then is part of
// either transaction; it may run more than once.
func (r *Router) Replay(
	ctx context.Context, row *store.Reference, p provider.Provider, letter *Letter, then func(ctx context.Context, tx *database.Tx, reason string) error,
) (reason string, err error) {
	caller, ok := p.(provider.Caller)
	if !ok || letter.Part == "" {
		return "", ErrNotReplayable
	}
	room := maxReplayable
	as := eventsOf(caller, provider.Part{NetworkID: letter.NetworkID, Group: letter.Group, Body: []byte(letter.Part)}, &room)
	for i := range as {
		as[i].Reference = row.Info(p)
		as[i] = ingest.Validate(as[i])
		if bad := as[i].Bad; bad != nil {
			return bad.Reason, r.keepLetter(ctx, letter, bad.Reason, then)
		}
	}
	err = r.IngestReplay(ctx, as, func(ctx context.Context, tx *database.Tx) error {
		if err := changedOne(tx.ExecContext(ctx, `DELETE FROM messaging_dead_letter WHERE id = $1`, letter.ID)); err != nil {
			return err
		}
		return then(ctx, tx, "")
	})
	if err != nil {
		return "", fmt.Errorf("replaying dead letter %s: %w", letter.LetterID, err)
	}
	return "", nil
}

// keepLetter notes that a dead letter was replayed in vain.
func (r *Router) keepLetter(ctx context.Context, letter *Letter, reason string, then func(ctx context.Context, tx *database.Tx, reason string) error) error {
	err := r.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		err := changedOne(tx.ExecContext(ctx, `UPDATE messaging_dead_letter SET reason = $1, replays = replays + 1, replayed_us = $2 WHERE id = $3`,
			reason, database.Micros(r.Store.Now()), letter.ID))
		if err != nil {
			return err
		}
		return then(ctx, tx, reason)
	})
	if err != nil {
		return fmt.Errorf("keeping dead letter %s: %w", letter.LetterID, err)
	}
	return nil
}

// DeleteLetter deletes a dead letter. The function then is part of the transaction.
func (r *Router) DeleteLetter(ctx context.Context, ref provider.ReferenceID, id string, then func(ctx context.Context, tx *database.Tx) error) error {
	return r.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		err := changedOne(tx.ExecContext(ctx, `DELETE FROM messaging_dead_letter WHERE letter_id = $1 AND reference = $2`, id, ref))
		if err != nil {
			return err
		}
		return then(ctx, tx)
	})
}

// changedOne is [ErrNoLetter] if a statement has changed nothing.
func changedOne(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNoLetter
}

// eventsOf reads a part. With each item that cannot be read it keeps the part without
// its neighbours, as long as there is room, so that the item can be read again.
func eventsOf(c provider.Caller, part provider.Part, room *int) []ingest.Event {
	events, bads := c.Parse(part)
	out := make([]ingest.Event, 0, len(events)+len(bads))
	for _, e := range events {
		out = append(out, ingest.Event{Event: e})
	}
	if len(bads) > 0 {
		for i, body := range surrounding(part.Body, bads, room) {
			alone := provider.Part{NetworkID: part.NetworkID, Group: part.Group, Body: body}
			if _, still := c.Parse(alone); len(body) == 0 || len(still) == 0 {
				alone = provider.Part{} // it depends on its neighbours
			}
			out = append(out, ingest.Event{Bad: &bads[i], Part: alone})
		}
	}
	if len(out) == 1 && len(events) == 1 { // what cannot be stored is found out later
		out[0].Part = part
	}
	return out
}
