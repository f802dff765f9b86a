package web

import (
	"errors"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// messageReader turns received messages into events.
type messageReader struct {
	conn    *connection
	people  *resolver
	senders *senders
	groups  *groups
}

// message returns the events of a message; none for messages between the devices
// of an account, which no chat shows.
func (mr *messageReader) message(c *whatsmeow.Client, e *events.Message) ([]provider.Event, error) {
	if !shown(e.Info) {
		return nil, nil
	}
	content, edits, err := mr.content(c, e)
	if err != nil || content == nil {
		return nil, err
	}
	evs := mr.envelope(e.Info, content)
	m := evs[len(evs)-1].(*provider.Message)
	m.Edits = edits
	addContext(m, contextOf(e.Message))
	if edits != "" {
		m.ReplyTo = ""
	}
	return evs, nil
}

// shown reports whether a message belongs to a chat. Statuses and channels do
// not.
func shown(info types.MessageInfo) bool {
	return info.Chat != types.StatusBroadcastJID && info.Chat.Server != types.NewsletterServer
}

// content returns the body of a message and the id of the message that it edits.
func (mr *messageReader) content(c *whatsmeow.Client, e *events.Message) (content provider.Content, edits string, err error) {
	msg := e.Message
	switch p := msg.GetProtocolMessage(); {
	case p == nil:
	case p.GetType() == waE2E.ProtocolMessage_REVOKE && p.GetKey().GetID() != "":
		return provider.Revoke{MessageID: p.GetKey().GetID()}, "", nil
	case p.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
		return contentOf(p.GetEditedMessage()), p.GetKey().GetID(), nil
	default:
		return nil, "", nil
	}
	switch {
	case damagedSeal(msg):
		return provider.Unknown{Kind: provider.Undecryptable}, "", nil
	case msg.GetEncReactionMessage() != nil:
		r, err := c.DecryptReaction(mr.conn.ctx, e)
		if err != nil {
			return unreadable(err)
		}
		return provider.Reaction{MessageID: r.GetKey().GetID(), Emoji: r.GetText()}, "", nil
	case msg.GetPollUpdateMessage() != nil:
		vote, err := mr.vote(c, e)
		return vote, "", err
	case msg.GetSecretEncryptedMessage() != nil:
		inner, err := c.DecryptSecretEncryptedMessage(mr.conn.ctx, e)
		if err != nil {
			return unreadable(err)
		}
		return contentOf(inner), msg.GetSecretEncryptedMessage().GetTargetMessageKey().GetID(), nil
	}
	return contentOf(msg), "", nil
}

// nonceLength is the length of a nonce of AES-GCM, which panics with another.
const nonceLength = 12

// damagedSeal reports whether a reaction or an edit, which is encrypted with the
// key of the message that it is about, can never be decrypted.
func damagedSeal(msg *waE2E.Message) bool {
	reaction, edit := msg.GetEncReactionMessage(), msg.GetSecretEncryptedMessage()
	return reaction != nil && len(reaction.GetEncIV()) != nonceLength || edit != nil && len(edit.GetEncIV()) != nonceLength
}

// unreadable returns the content of a message whose key is missing. An error of
// the database is returned: the network then sends the message again.
func unreadable(err error) (provider.Content, string, error) {
	if ofStore(err) {
		return nil, "", err
	}
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return provider.Unknown{Kind: "sealed"}, "", nil
	}
	return provider.Unknown{Kind: provider.Undecryptable}, "", nil
}

// envelope returns the event of a message with a content.
func (mr *messageReader) envelope(info types.MessageInfo, content provider.Content) []provider.Event {
	chat, who := mr.people.chatAndSender(mr.conn.ctx, info.MessageSource)
	who.Name = pushName(info.PushName)
	if info.VerifiedName != nil {
		who.VerifiedBizName = info.VerifiedName.Details.GetVerifiedName()
	}
	mr.senders.remember(info)
	if chat.Group {
		mr.groups.askName(info.Chat)
	}
	return []provider.Event{&provider.Message{
		ID: info.ID, Chat: chat, From: who, Mine: info.IsFromMe, At: info.Timestamp, Content: mr.people.withMentions(from(content, info)),
	}}
}

// pushName returns the name that a person chose; "-" means none.
func pushName(name string) string {
	if name == "-" {
		return ""
	}
	return name
}

// addContext adds to a message what it says of other messages: the one that it
// answers, whether it was forwarded, and the ad that led to it.
func addContext(m *provider.Message, c *waE2E.ContextInfo) {
	if c == nil {
		return
	}
	const many = 4 // from here on WhatsApp's own clients show "forwarded many times"
	m.ReplyTo = c.GetStanzaID()
	m.Forwarded = c.GetIsForwarded()
	m.FrequentlyForwarded = m.Forwarded && c.GetForwardingScore() >= many
	ad := c.GetExternalAdReply()
	if ad == nil || ad.GetSourceURL() == "" {
		return
	}
	m.Referral = &provider.Referral{
		Source: ad.GetSourceType(), SourceID: ad.GetSourceID(), Ref: ad.GetRef(), ClickID: ad.GetCtwaClid(),
		URL: ad.GetSourceURL(), Headline: ad.GetTitle(), Text: ad.GetBody(),
	}
}

// contextOf returns the ContextInfo of the message that msg carries.
func contextOf(msg *waE2E.Message) *waE2E.ContextInfo {
	var found *waE2E.ContextInfo
	eachPart(msg, func(_ string, part any) bool {
		c, ok := part.(interface{ GetContextInfo() *waE2E.ContextInfo })
		if ok {
			found = c.GetContextInfo()
		}
		return found == nil
	})
	return found
}
