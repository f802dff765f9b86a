package ingest

import (
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// bodyOf puts what a network delivered into the members of the interface.
func bodyOf(msg *provider.Message) payload.Body {
	b := render.PlainText(msg.Content)
	if msg.ReplyTo != "" || msg.Forwarded {
		b.Context = &payload.Quote{MessageID: msg.ReplyTo, Forwarded: msg.Forwarded}
	}
	if msg.Edits != "" {
		b.Edited = &payload.MessageRef{MessageID: msg.Edits}
	}
	if msg.Chat.Group && msg.From.ChatID != "" {
		b.Participant = &payload.Participant{RemoteJID: msg.From.RemoteJID(), ChatID: msg.From.ChatID, PushName: msg.From.Name}
	}
	if msg.Referral != nil {
		b.Referral = msg.Referral.Body
	}
	return b
}
