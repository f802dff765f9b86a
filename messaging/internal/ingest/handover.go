package ingest

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// handedOver pauses or wakes the bot of a chat that changed hands.
func handedOver(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.Handover) error {
	c, at := u.ChatOf(store.Person{Reference: l, Address: e.Chat}), store.NetworkTime(u, e.At)
	before := c.Handling()
	switch e.Owner {
	case provider.HandoverTheirs:
		c.TakeOver(max(c.HandoffUS, at))
	case provider.HandoverOurs:
		if at >= c.HandoffUS {
			c.GiveBack()
		}
	}
	return ChatChanged(ctx, u, l, c, c.Handling() != before)
}

func validateHandover(h provider.Handover, r provider.Raw) provider.Event {
	h.Raw, h.At, h.Chat = r, sanitize.Time(h.At), sanitize.Address(h.Chat)
	if !sanitize.IsName(h.Chat.ChatID) {
		return nil
	}
	return &h
}

// answeredByHand is for a person who has written in a chat.
func answeredByHand(u *store.Batch, c *store.Chat, us int64) {
	c.HandoffUS = max(c.HandoffUS, us)
	if c.AskedUS != 0 && !c.Taken {
		c.Taken = true
		u.DirtyChats.Add(c)
	}
}
