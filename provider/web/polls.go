package web

import (
	"context"
	"crypto/rand"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

const pollKeyLength = 32 // bytes

// pollVote is the kind of an [provider.Unknown] that is a vote which cannot be read.
const pollVote = "poll_vote"

// messageKeys stores the keys of messages with which later messages about them
// are encrypted, such as the votes in a poll. whatsmeow looks up a key by the
// ids that the later message names. These may be the other ids of the same
// people, which only this package knows: see [lids].
type messageKeys struct {
	store.MsgSecretStore
	lids *lids
}

// GetMessageSecret returns the key of a message and the id of its sender under
// which it is stored; nil: there is none.
func (mk *messageKeys) GetMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID) ([]byte, types.JID, error) {
	chats, err := mk.lids.forms(ctx, chat)
	if err != nil {
		return nil, types.EmptyJID, err
	}
	senders, err := mk.lids.forms(ctx, sender)
	if err != nil {
		return nil, types.EmptyJID, err
	}
	for _, c := range chats {
		for _, s := range senders {
			key, from, err := mk.MsgSecretStore.GetMessageSecret(ctx, c, s, id)
			if err != nil || key != nil {
				return key, from, err
			}
		}
	}
	return nil, types.EmptyJID, nil
}

// composePoll returns the message of a poll. A message that is sent again has
// the same key: the contact may have either copy, and votes with its key.
func composePoll(ctx context.Context, c *whatsmeow.Client, to types.JID, id string, p provider.Poll, about *waE2E.ContextInfo) (*waE2E.Message, error) {
	key, err := pollKey(ctx, c, to, id)
	if err != nil {
		return nil, &provider.Temporary{Err: fmt.Errorf("storing the key of a poll: %w", err)}
	}
	limit := 1
	if p.Multiple {
		limit = 0 // any number
	}
	msg := c.BuildPollCreation(p.Question, p.Options, limit)
	msg.MessageContextInfo.MessageSecret = key
	msg.PollCreationMessage.ContextInfo = about
	return msg, nil
}

// pollKey returns the key of the votes in a poll of the account, and stores a
// new one before the poll is sent: without it no vote could be read.
func pollKey(ctx context.Context, c *whatsmeow.Client, to types.JID, id string) ([]byte, error) {
	own, keys := c.Store.GetLID().ToNonAD(), c.Store.MsgSecrets
	key, _, err := keys.GetMessageSecret(ctx, to, own, id)
	if err != nil || key != nil {
		return key, err
	}
	key = make([]byte, pollKeyLength)
	_, _ = rand.Read(key) // never fails
	return key, keys.PutMessageSecret(ctx, to, own, id, key)
}

// composeVote returns the message of a vote in a poll. It is encrypted with the
// ids under which the poll was received.
func (s *sender) composeVote(ctx context.Context, c *whatsmeow.Client, to types.JID, v provider.Vote, about *provider.About) (*waE2E.Message, error) {
	author, err := s.senders.sender(ctx, c, to, v.MessageID, about)
	if err != nil {
		return nil, err
	}
	key, stored, err := c.Store.MsgSecrets.GetMessageSecret(ctx, to, author, v.MessageID)
	switch {
	case err != nil:
		return nil, &provider.Temporary{Err: fmt.Errorf("reading the key of a poll: %w", err)}
	case key == nil:
		return nil, &provider.Rejected{Code: "forgotten", Message: "The key of the votes in this poll is not known."}
	}
	info := types.MessageInfo{ID: v.MessageID, MessageSource: types.MessageSource{
		Chat: to, Sender: stored, IsFromMe: stored.User == c.Store.GetLID().User || stored.User == c.Store.GetJID().User,
		IsGroup: to.Server == types.GroupServer,
	}}
	if !info.IsGroup && !info.IsFromMe {
		info.Chat = stored
	}
	msg, err := c.BuildPollVote(ctx, &info, v.Options)
	if err != nil {
		return nil, &provider.Temporary{Err: fmt.Errorf("encrypting a vote: %w", err)}
	}
	return msg, nil
}

// vote returns what a vote in a poll chooses. The voter encrypts the vote with
// one of the account's ids and one of its own: the message may name the others.
func (mr *messageReader) vote(c *whatsmeow.Client, e *events.Message) (provider.Content, error) {
	update := e.Message.GetPollUpdateMessage()
	if len(update.GetVote().GetEncIV()) != nonceLength {
		return provider.Unknown{Kind: pollVote}, nil
	}
	voters, err := mr.voters(c, e.Info.MessageSource)
	if err != nil {
		return nil, err
	}
	for _, voter := range voters {
		as := *e
		as.Info.Sender = voter
		v, err := c.DecryptPollVote(mr.conn.ctx, &as)
		if err == nil {
			return provider.Vote{MessageID: update.GetPollCreationMessageKey().GetID(), Hashes: v.GetSelectedOptions()}, nil
		}
		if ofStore(err) {
			return nil, err
		}
	}
	return provider.Unknown{Kind: pollVote}, nil
}

// voters returns the ids of who sent a message.
func (mr *messageReader) voters(c *whatsmeow.Client, m types.MessageSource) ([]types.JID, error) {
	if !m.SenderAlt.IsEmpty() {
		return []types.JID{m.Sender, m.SenderAlt}, nil
	}
	lids, ok := c.Store.LIDs.(*lids)
	if !ok {
		return []types.JID{m.Sender}, nil
	}
	return lids.forms(mr.conn.ctx, m.Sender)
}
