package sandbox

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// groupSuffix is the end of the chat ids of groups.
	groupSuffix = "@g.us"
	// invites is the start of the links by which groups are joined.
	invites = "https://sandbox.invalid/"
	// notInGroup is the code of calls that are refused after the account has
	// left.
	notInGroup = "not_in_group"
)

// groups are the groups of all references.
type groups struct {
	mu  sync.Mutex
	all map[groupKey]*group
}

type groupKey struct {
	ref provider.ReferenceID
	id  string
}

type group struct {
	provider.Group
	invite string
	left   bool
}

// left reports whether the account has left a group.
func (gs *groups) left(ref provider.ReferenceID, id string) bool {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := gs.all[groupKey{ref, id}]
	return g != nil && g.left
}

// in runs fn with a group that the account is in, under the lock of the group.
func (s *session) in(ctx context.Context, chat provider.Address, fn func(g *group)) error {
	if err := s.alive(ctx); err != nil {
		return err
	}
	s.groups.mu.Lock()
	defer s.groups.mu.Unlock()
	g := s.groups.all[groupKey{s.ref, chat.ChatID}]
	switch {
	case g == nil:
		return &provider.BadRecipient{Message: "this group does not exist"}
	case g.left:
		return &provider.Rejected{Code: notInGroup, Message: "the account has left this group"}
	}
	fn(g)
	return nil
}

// CreateGroup creates a group. All contacts can be added.
func (s *session) CreateGroup(ctx context.Context, subject string, participants []provider.Address) (provider.Group, error) {
	if err := s.alive(ctx); err != nil {
		return provider.Group{}, err
	}
	g := &group{Group: provider.Group{
		Chat:    provider.Address{ChatID: strings.ReplaceAll(uuid.NewString(), "-", "") + groupSuffix, Group: true},
		Subject: subject, Admin: true, CreatedAt: time.Now(),
	}, invite: uuid.NewString()}
	g.Refused = g.change(provider.ParticipantAdd, participants)
	s.groups.mu.Lock()
	defer s.groups.mu.Unlock()
	if s.groups.all == nil {
		s.groups.all = map[groupKey]*group{}
	}
	s.groups.all[groupKey{s.ref, g.Chat.ChatID}] = g
	out := g.view()
	g.Refused = nil
	return out, nil
}

// Group describes a group.
func (s *session) Group(ctx context.Context, chat provider.Address) (out provider.Group, err error) {
	err = s.in(ctx, chat, func(g *group) { out = g.view() })
	return out, err
}

// SetGroupSubject renames a group.
func (s *session) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	return s.in(ctx, chat, func(g *group) { g.Subject = subject })
}

// ChangeParticipants changes participants. It refuses people who are not in the
// group.
func (s *session) ChangeParticipants(
	ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address,
) (refused []provider.RefusedParticipant, err error) {
	err = s.in(ctx, chat, func(g *group) { refused = g.change(change, who) })
	return refused, err
}

// GroupInvite returns a link, which cannot be opened.
func (s *session) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (link string, err error) {
	err = s.in(ctx, chat, func(g *group) {
		if reset {
			g.invite = uuid.NewString()
		}
		link = invites + g.invite
	})
	return link, err
}

// LeaveGroup leaves a group. The account cannot return.
func (s *session) LeaveGroup(ctx context.Context, chat provider.Address) error {
	return s.in(ctx, chat, func(g *group) { g.left = true })
}

// view returns a copy for the caller.
func (g *group) view() provider.Group {
	out := g.Group
	out.Participants = slices.Clone(g.Participants)
	return out
}

// change changes participants, and returns those that it could not change.
func (g *group) change(change provider.ParticipantChange, who []provider.Address) (refused []provider.RefusedParticipant) {
	for _, a := range who {
		at := slices.IndexFunc(g.Participants, func(p provider.Participant) bool { return p.ChatID == a.ChatID })
		switch {
		case change == provider.ParticipantAdd && a.Group:
			refused = append(refused, provider.RefusedParticipant{Address: a, Failure: provider.Failure{Code: "group", Message: "a group cannot be in a group"}})
		case change == provider.ParticipantAdd && at < 0:
			g.Participants = append(g.Participants, provider.Participant{Contact: provider.Contact{Address: a}})
		case change == provider.ParticipantAdd:
		case at < 0:
			refused = append(refused, provider.RefusedParticipant{Address: a, Failure: provider.Failure{Code: "not_a_participant", Message: "is not in the group"}})
		case change == provider.ParticipantRemove:
			g.Participants = slices.Delete(g.Participants, at, at+1)
		default:
			g.Participants[at].Admin = change == provider.ParticipantPromote
		}
	}
	return refused
}
