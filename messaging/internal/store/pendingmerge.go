package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// mergeSteps is in how many transactions the service continues with merges every
// second.
const mergeSteps = 20

// PendingMerge is a merge of two chats that is put off. Each of them continues
// with its names and with what comes under those, while the messages of one of
// them move to the other, the oldest first.
type PendingMerge struct {
	Gone    int64  `db:"gone"`
	Keep    int64  `db:"keep"`
	Account string `db:"account"`
}

// PendingMerges reads the merges that are put off.
const PendingMerges = `SELECT m.gone, m.keep, r.account FROM messaging_merge m
	JOIN messaging_chat c ON c.id = m.gone JOIN messaging_reference r ON r.id = c.reference `

// MergeChats continues with the merges that are put off. What waits for files is
// left for the next time.
func (s *Store) MergeChats(ctx context.Context) error {
	var all []PendingMerge
	if err := s.DB.SelectContext(ctx, &all, PendingMerges+`ORDER BY m.gone LIMIT $1`, mergeSteps); err != nil {
		return fmt.Errorf("reading merges of chats: %w", err)
	}
	left := mergeSteps
	for _, p := range all {
		for more := true; more && left > 0; left-- {
			var err error
			if more, err = s.StepMerge(ctx, p, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// FinishMerges ends the merges of the chat of an address, a step at a time, so
// that it is whole.
func (s *Store) FinishMerges(ctx context.Context, l ReferenceInfo, addr provider.Address) error {
	for {
		c, err := s.ChatByAddress(ctx, s.DB, l.ID, addr)
		if errors.Is(err, payload.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var all []PendingMerge
		if err := s.DB.SelectContext(ctx, &all, PendingMerges+`WHERE m.gone = $1 OR m.keep = $1 ORDER BY m.gone LIMIT 1`, c.ID); err != nil {
			return fmt.Errorf("reading merges of chats: %w", err)
		}
		if len(all) == 0 {
			return nil
		}
		for more := true; more; {
			if more, err = s.StepMerge(ctx, all[0], true); err != nil {
				return err
			}
		}
	}
}

// StepMerge moves some of the oldest messages from one chat to the other, or all
// that is left, and says whether it is to be called again. What waits for files
// moves at the end, which now forces.
func (s *Store) StepMerge(ctx context.Context, p PendingMerge, now bool) (more bool, err error) {
	err = s.InBatch(ctx, func(u *Batch) error {
		more = false
		err := u.Lock(ctx, []int64{p.Keep, p.Gone})
		if errors.Is(err, ErrMoved) { // one of them was deleted, or merged with another
			_, err = u.Tx.ExecContext(ctx, `DELETE FROM messaging_merge WHERE gone = $1 AND keep = $2`, p.Gone, p.Keep)
		}
		keep, gone := u.Chats[p.Keep], u.Chats[p.Gone]
		if err != nil || keep == nil || gone == nil {
			return err
		}
		merge := mergeOf(u, keep, gone)
		large, err := merge.isLarge(ctx)
		if err != nil {
			return err
		}
		if large {
			if more, err = merge.moveSome(ctx); err != nil || more || !now {
				return err
			}
		}
		return merge.finish(ctx, p.Account)
	})
	if err != nil {
		return false, fmt.Errorf("merging chats: %w", err)
	}
	return more, nil
}
