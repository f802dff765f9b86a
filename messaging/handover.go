package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// handedOver pauses or wakes the bot of a chat that changed hands.
func (u *batch) handedOver(ctx context.Context, l referenceInfo, e *provider.Handover) error {
	c, at := u.chatOf(person{l, e.Chat}), u.networkTime(e.At)
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

func validateHandover(h provider.Handover, r provider.Raw) provider.Event {
	h.Raw, h.At, h.Chat = r, validateTime(h.At), sanitizeAddress(h.Chat)
	if !named(h.Chat.ChatID) {
		return nil
	}
	return &h
}
