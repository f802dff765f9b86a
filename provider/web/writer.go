package web

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// writer is who wrote a message of a chat: as this session remembers it, else
// as the caller knows it. It is empty when it is not known.
func (s *session) writer(ctx context.Context, c *whatsmeow.Client, chat types.JID, id types.MessageID, about *provider.About) (types.JID, error) {
	own := c.Store.GetJID().ToNonAD()
	m, remembered := s.names.writer(id)
	switch {
	case remembered && m.IsFromMe, !remembered && about != nil && about.Mine:
		return own, nil
	case remembered:
		return m.Sender.ToNonAD(), nil
	case chat.Server != types.GroupServer:
		if about == nil && chosenHere(id) {
			return own, nil
		}
		return chat, nil
	case about == nil || about.From == "":
		return types.EmptyJID, nil
	}
	return s.participantNamed(ctx, c, chat, about.From)
}

// chosenHere reports whether an id looks like those of [Provider.NewMessageID].
func chosenHere(id types.MessageID) bool {
	const prefix, length = whatsmeow.WebMessageIDPrefix, len(whatsmeow.WebMessageIDPrefix) + 18
	return len(id) == length && id[:len(prefix)] == prefix
}

// participantNamed is a member of a group by a name that may be a number or a
// hidden id, as the group addresses it; empty for who is none any more.
func (s *session) participantNamed(ctx context.Context, c *whatsmeow.Client, group types.JID, remote string) (types.JID, error) {
	user, _, _ := strings.Cut(remote, "::")
	info, err := c.GetGroupInfo(ctx, group)
	if err != nil {
		return types.EmptyJID, queryError(err)
	}
	for _, p := range info.Participants {
		if user == p.JID.User || user == p.PhoneNumber.User || user == p.LID.User || user == s.participant(ctx, p).Phone {
			return p.JID.ToNonAD(), nil
		}
	}
	return types.EmptyJID, nil
}
