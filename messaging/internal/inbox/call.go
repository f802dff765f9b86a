package inbox

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// replyToCalls has a batch answer the callers of calls that were rejected in it.
// It does so once for each call: a call is rejected in one batch only, in which
// the answer is stored, too.
func (b *Inbox) replyToCalls(ctx context.Context, u *store.Batch, as []ingest.Event) error {
	replied := map[store.CallKey]bool{}
	for _, a := range as {
		e, ok := a.Event.(*provider.Call)
		if !ok || e.Reply == "" || e.Chat.Group {
			continue
		}
		key := store.CallKey{Reference: a.Reference.ID, ID: e.CallID}
		row := u.Calls[key]
		if replied[key] || row == nil || !row.Changed || row.Status != provider.CallRejected {
			continue
		}
		replied[key] = true
		if err := b.Reply(ctx, u, a.Reference, u.Chats[row.Chat].ChatID, e.Reply); err != nil {
			return err
		}
	}
	return nil
}
