package web

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// remembered is how many messages' senders, and calls, a line remembers.
const remembered = 512

// names remembers what later events do not say again: who wrote a message, how
// a call continued, which groups were asked for their names.
type names struct {
	mu     sync.Mutex
	from   map[types.MessageID]types.MessageSource
	order  []types.MessageID
	calls  map[string]bool // that were answered
	groups map[types.JID]bool
	asking sync.Mutex // one question at a time
}

// remember notes who wrote a message.
func (n *names) remember(info types.MessageInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.from == nil {
		n.from = map[types.MessageID]types.MessageSource{}
	}
	if _, known := n.from[info.ID]; !known {
		n.order = append(n.order, info.ID)
	}
	n.from[info.ID] = info.MessageSource
	if len(n.order) > remembered {
		delete(n.from, n.order[0])
		n.order = n.order[1:]
	}
}

// writer is who wrote a message, if that is remembered.
func (n *names) writer(id types.MessageID) (m types.MessageSource, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, known = n.from[id]
	return m, known
}

func (n *names) answer(call string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls == nil || len(n.calls) > remembered {
		n.calls = map[string]bool{}
	}
	n.calls[call] = true
}

func (n *names) answered(call string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[call]
}

// first reports whether a group was not asked for its name yet.
func (n *names) first(group types.JID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.groups == nil {
		n.groups = map[types.JID]bool{}
	}
	asked := n.groups[group]
	n.groups[group] = true
	return !asked
}

// askGroup asks for the name of a group, once in the life of a session. It does
// not wait: whatsmeow's handlers must not ask.
func (s *session) askGroup(group types.JID) {
	c := s.device()
	if c == nil || !s.names.first(group) {
		return
	}
	s.spawn("asking for a group's name", func() {
		s.names.asking.Lock()
		defer s.names.asking.Unlock()
		info, err := c.GetGroupInfo(s.ctx, group)
		if err != nil {
			s.log.Debug("asking for a group's name", slog.Any("error", err))
			return
		}
		_ = s.inbox.Receive(s.ctx, s.ref.ID, []provider.Event{named(info)}) // the next session asks again
	})
}

// named is a group's present name.
func named(info *types.GroupInfo) *provider.GroupChange {
	g := &provider.GroupChange{What: "group_subject", Chat: group(info.JID), At: info.NameSetAt, Subject: info.Name, Description: info.Topic}
	g.Raw = provider.Raw{Kind: "group", ID: fmt.Sprintf("%s:name:%d:%s", info.JID.User, info.NameSetAt.Unix(), info.TopicID)}
	return g
}

// groupNews is what became of a group.
func (s *session) groupNews(e any) []provider.Event {
	switch e := e.(type) {
	case *events.JoinedGroup:
		g := named(&e.GroupInfo)
		g.What = "group_joined"
		g.ID += ":joined"
		return []provider.Event{g}
	case *events.GroupInfo:
		g := &provider.GroupChange{What: "group_changed", Chat: group(e.JID), At: e.Timestamp}
		if e.Name != nil {
			g.Subject = e.Name.Name
		}
		if e.Topic != nil {
			g.Description = e.Topic.Topic
		}
		if e.NewInviteLink != nil {
			g.Invite = *e.NewInviteLink
		}
		g.Joined, g.Left = s.people(e.Join), s.people(e.Leave)
		what := sha256.Sum256(fmt.Append(nil, g.Subject, g.Description, g.Invite, e.Join, e.Leave, e.Promote, e.Demote, e.ParticipantVersionID))
		g.Raw = provider.Raw{Kind: "group", ID: fmt.Sprintf("%s:%d:%x", e.JID.User, e.Timestamp.Unix(), what[:8])}
		return []provider.Event{g}
	}
	return nil
}

func (s *session) people(who []types.JID) []provider.Contact {
	var out []provider.Contact
	for _, j := range who {
		out = append(out, provider.Contact{Address: s.both(s.ctx, j, types.EmptyJID)})
	}
	return out
}
