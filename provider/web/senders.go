package web

import (
	"context"
	"strings"
	"sync"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// maxSenders is how many messages' senders, and calls, a session remembers.
const maxSenders = 512

// senders remembers who sent recent messages. Reactions, quotes and receipts
// have to name the sender.
type senders struct {
	people *resolver

	mu    sync.Mutex
	from  map[types.MessageID]types.MessageSource
	order []types.MessageID // the oldest first
}

// remember records who sent a message.
func (sn *senders) remember(info types.MessageInfo) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.from == nil {
		sn.from = map[types.MessageID]types.MessageSource{}
	}
	if _, known := sn.from[info.ID]; !known {
		sn.order = append(sn.order, info.ID)
	}
	sn.from[info.ID] = info.MessageSource
	if len(sn.order) > maxSenders {
		delete(sn.from, sn.order[0])
		sn.order = sn.order[1:]
	}
}

// remembered returns who sent a message, if the session remembers it.
func (sn *senders) remembered(id types.MessageID) (m types.MessageSource, ok bool) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	m, ok = sn.from[id]
	return m, ok
}

// sender returns who sent a message of a chat: from memory, else from about,
// which the caller knows of the message. It is empty when it is not known.
func (sn *senders) sender(ctx context.Context, c *whatsmeow.Client, chat types.JID, id types.MessageID, about *provider.About) (types.JID, error) {
	own := c.Store.GetJID().ToNonAD()
	m, remembered := sn.remembered(id)
	switch {
	case remembered && m.IsFromMe, !remembered && about != nil && about.Mine:
		return own, nil
	case remembered:
		return m.Sender.ToNonAD(), nil
	case chat.Server != types.GroupServer:
		if about == nil && isOwnID(id) {
			return own, nil
		}
		return chat, nil
	case about == nil || about.From == "":
		return types.EmptyJID, nil
	}
	return sn.participantNamed(ctx, c, chat, about.From)
}

// isOwnID reports whether an id looks like those of [Provider.NewMessageID].
func isOwnID(id types.MessageID) bool {
	const prefix, length = whatsmeow.WebMessageIDPrefix, len(whatsmeow.WebMessageIDPrefix) + 18
	return len(id) == length && id[:len(prefix)] == prefix
}

// participantNamed returns the member of a group with a number or LID, as the
// group addresses it. It is empty when the person is not a member.
func (sn *senders) participantNamed(ctx context.Context, c *whatsmeow.Client, group types.JID, remote string) (types.JID, error) {
	user, _, _ := strings.Cut(remote, "::")
	info, err := c.GetGroupInfo(ctx, group)
	if err != nil {
		return types.EmptyJID, queryError(err)
	}
	for _, p := range info.Participants {
		if user == p.JID.User || user == p.PhoneNumber.User || user == p.LID.User || user == sn.people.participant(ctx, p).Phone {
			return p.JID.ToNonAD(), nil
		}
	}
	return types.EmptyJID, nil
}
