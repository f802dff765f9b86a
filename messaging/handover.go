package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// handedOver pauses or wakes the bot of a chat that changed hands.
func (u *unit) handedOver(ctx context.Context, l line, e *provider.Handover) error {
	c, at := u.chatOf(person{l, e.Chat}), u.said(e.At)
	before := c.share()
	switch e.Owner {
	case provider.HandoverTheirs:
		c.taken(max(c.HandoffUS, at))
	case provider.HandoverOurs:
		if at >= c.HandoffUS {
			c.givenBack()
		}
	}
	return u.chatChanged(ctx, l, c, c.share() != before)
}

func admitHandover(h provider.Handover, r provider.Raw) provider.Event {
	h.Raw, h.At, h.Chat = r, admitTime(h.At), cleanAddress(h.Chat)
	if !named(h.Chat.ChatID) {
		return nil
	}
	return &h
}
