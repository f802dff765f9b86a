package web

import (
	"cmp"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// message is what a message says. Messages between the devices of an account
// say nothing to people.
func (s *session) message(c *whatsmeow.Client, e *events.Message) ([]provider.Event, error) {
	if !shown(e.Info) {
		return nil, nil
	}
	if n := e.Message.GetProtocolMessage().GetHistorySyncNotification(); n != nil {
		return nil, s.announced(e.Info, n)
	}
	content, edits, err := s.content(c, e)
	if err != nil || content == nil {
		return nil, err
	}
	evs := s.envelope(e.Info, content)
	m := evs[len(evs)-1].(*provider.Message)
	m.Edits = edits
	addContext(m, contextOf(e.Message))
	if edits != "" {
		m.ReplyTo = ""
	}
	return evs, nil
}

// shown reports whether a message belongs to a chat with people: statuses and
// channels do not.
func shown(info types.MessageInfo) bool {
	return info.Chat != types.StatusBroadcastJID && info.Chat.Server != types.NewsletterServer
}

// content is the body of a message, and which message it replaces.
func (s *session) content(c *whatsmeow.Client, e *events.Message) (content provider.Content, edits string, err error) {
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
	case msg.GetEncReactionMessage() != nil:
		r, err := c.DecryptReaction(s.ctx, e)
		if err != nil {
			return unreadable(err)
		}
		return provider.Reaction{MessageID: r.GetKey().GetID(), Emoji: r.GetText()}, "", nil
	case msg.GetPollUpdateMessage() != nil:
		return provider.Unknown{Kind: "poll_vote"}, "", nil // of a contact's poll: this line asks in text
	case msg.GetSecretEncryptedMessage() != nil:
		inner, err := c.DecryptSecretEncryptedMessage(s.ctx, e)
		if err != nil {
			return unreadable(err)
		}
		return contentOf(inner), msg.GetSecretEncryptedMessage().GetTargetMessageKey().GetID(), nil
	}
	return contentOf(msg), "", nil
}

// unreadable is the content of what is sealed with a key that this line does
// not have. An error of the database is one, and the message comes again.
func unreadable(err error) (provider.Content, string, error) {
	if ofStore(err) {
		return nil, "", err
	}
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return provider.Unknown{Kind: "sealed"}, "", nil
	}
	return provider.Unknown{Kind: provider.Undecryptable}, "", nil
}

// envelope is a message with what is said about it, after what it tells of the
// people in it.
func (s *session) envelope(info types.MessageInfo, content provider.Content) []provider.Event {
	chat, who := s.chatOf(s.ctx, info.MessageSource)
	who.Name = pushName(info.PushName)
	if info.VerifiedName != nil {
		who.VerifiedBizName = info.VerifiedName.Details.GetVerifiedName()
	}
	s.names.remember(info)
	if chat.Group {
		s.askGroup(info.Chat)
	}
	return []provider.Event{&provider.Message{
		ID: info.ID, Chat: chat, From: who, Mine: info.IsFromMe, At: info.Timestamp, Content: s.known(from(content, info)),
	}}
}

// known is content that names people as their chats do.
func (s *session) known(c provider.Content) provider.Content {
	t, ok := c.(provider.Text)
	if !ok || len(t.Mentions) == 0 {
		return c
	}
	named := make([]string, 0, len(t.Mentions))
	for _, m := range t.Mentions {
		if j, err := types.ParseJID(m); err == nil {
			m = cmp.Or(s.both(s.ctx, j, types.EmptyJID).ChatID, m)
		}
		named = append(named, m)
	}
	t.Mentions = named
	return t
}

// pushName is the name that a person chose; "-" is none.
func pushName(name string) string {
	if name == "-" {
		return ""
	}
	return name
}

// addContext adds what a message says of others.
func addContext(m *provider.Message, c *waE2E.ContextInfo) {
	if c == nil {
		return
	}
	const many = 4 // WhatsApp's own clients show two arrows from here on
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

// contextOf is the ContextInfo of whichever message is inside.
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

// receipt is the progress of messages: of ours with their contacts, of theirs
// when they are read on the phone.
func (s *session) receipt(e *events.Receipt) []provider.Event {
	status := map[types.ReceiptType]provider.Status{
		types.ReceiptTypeDelivered: provider.StatusDelivered, types.ReceiptTypeInactive: provider.StatusDelivered,
		types.ReceiptTypeRead: provider.StatusRead, types.ReceiptTypeReadSelf: provider.StatusRead,
		types.ReceiptTypePlayed: provider.StatusPlayed, types.ReceiptTypePlayedSelf: provider.StatusRead,
	}[e.Type]
	if status == 0 {
		return nil
	}
	if e.IsFromMe {
		if status == provider.StatusDelivered {
			return nil // another device of the account has got its copy
		}
		status = provider.StatusRead // on the phone, by the account itself
	}
	var out []provider.Event
	for _, id := range e.MessageIDs {
		c := &provider.StatusChange{MessageID: id, Status: status, At: e.Timestamp}
		if e.IsGroup && !e.IsFromMe {
			c.Participant = s.both(s.ctx, e.Sender, e.SenderAlt).ChatID
		}
		out = append(out, c)
	}
	return out
}

// call is a step of a call.
func (s *session) call(e any) []provider.Event {
	c := &provider.Call{}
	var meta types.BasicCallMeta
	switch e := e.(type) {
	case *events.CallOffer:
		meta, c.Status = e.BasicCallMeta, provider.CallRinging
		_, c.Video = e.Data.GetOptionalChildByTag("video")
	case *events.CallOfferNotice:
		meta, c.Status, c.Video = e.BasicCallMeta, provider.CallRinging, e.Media == "video"
	case *events.CallAccept:
		meta, c.Status = e.BasicCallMeta, provider.CallAccepted
	case *events.CallReject:
		meta, c.Status = e.BasicCallMeta, provider.CallRejected
	case *events.CallTerminate:
		meta, c.Status = e.BasicCallMeta, s.stopped(e)
	}
	if c.Status == provider.CallAccepted {
		s.names.answer(meta.CallID)
	}
	caller := s.both(s.ctx, meta.CallCreator, meta.CallCreatorAlt)
	c.From = provider.Contact{Address: caller}
	c.Chat, c.CallID, c.At = caller, meta.CallID, meta.Timestamp
	if !meta.GroupJID.IsEmpty() {
		c.Chat = group(meta.GroupJID)
	}
	c.Raw = provider.Raw{Kind: "call", ID: fmt.Sprintf("%s:%s", meta.CallID, c.Status)}
	return []provider.Event{c}
}

// stopped is why a linked device stops ringing: the phone may have taken the
// call.
func (s *session) stopped(e *events.CallTerminate) provider.CallStatus {
	switch {
	case s.names.answered(e.CallID):
		return provider.CallEnded
	case e.Reason == "accepted_elsewhere":
		return provider.CallAccepted
	case e.Reason == "rejected_elsewhere":
		return provider.CallRejected
	}
	return provider.CallMissed
}

// identity is that a contact has new keys: another device, perhaps another person.
func (s *session) identity(e *events.IdentityChange) []provider.Event {
	c := &provider.ContactChange{What: provider.ContactIdentity, Chat: s.both(s.ctx, e.JID, types.EmptyJID), At: e.Timestamp}
	c.Raw = provider.Raw{Kind: "identity", ID: fmt.Sprintf("%s:%d", c.Chat.ChatID, e.Timestamp.UnixMilli())}
	return []provider.Event{c}
}
