package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// groups manages the groups of an account and reports their changes.
type groups struct {
	conn   *connection
	inbox  provider.Inbox
	people *resolver

	mu      sync.Mutex
	queried map[types.JID]bool // groups whose names this session has asked for
	query   sync.Mutex         // one query for a name at a time
}

// CreateGroup creates a group.
func (gs *groups) CreateGroup(ctx context.Context, subject string, who []provider.Address) (provider.Group, error) {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return provider.Group{}, err
	}
	info, err := c.CreateGroup(ctx, whatsmeow.ReqCreateGroup{Name: subject, Participants: jids(who)})
	if err != nil {
		return provider.Group{}, queryError(err)
	}
	g := gs.describe(ctx, c, info)
	for _, a := range who {
		if !isIn(g, a) {
			g.Refused = append(g.Refused, provider.RefusedParticipant{Address: a, Failure: notAdded})
		}
	}
	return g, nil
}

// notAdded is the failure of a person whom the network's answer does not mention.
var notAdded = provider.Failure{Code: "not_added", Message: "WhatsApp did not add this person."}

// isIn reports whether a person is among the participants of a group or among
// those whom the network refused.
func isIn(g provider.Group, who provider.Address) bool {
	same := func(a provider.Address) bool {
		return a.ChatID == who.ChatID || who.Phone != "" && a.Phone == who.Phone || who.LID != "" && a.LID == who.LID
	}
	return slices.ContainsFunc(g.Participants, func(p provider.Participant) bool { return same(p.Address) }) ||
		slices.ContainsFunc(g.Refused, func(r provider.RefusedParticipant) bool { return same(r.Address) })
}

// Group describes a group.
func (gs *groups) Group(ctx context.Context, chat provider.Address) (provider.Group, error) {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return provider.Group{}, err
	}
	info, err := c.GetGroupInfo(ctx, jid(chat))
	if err != nil {
		return provider.Group{}, queryError(err)
	}
	return gs.describe(ctx, c, info), nil
}

// SetGroupSubject renames a group.
func (gs *groups) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return err
	}
	return queryError(c.SetGroupName(ctx, jid(chat), subject))
}

// ChangeParticipants adds, removes, promotes or demotes people.
func (gs *groups) ChangeParticipants(ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address,
) ([]provider.RefusedParticipant, error) {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return nil, err
	}
	action := map[provider.ParticipantChange]whatsmeow.ParticipantChange{
		provider.ParticipantAdd: whatsmeow.ParticipantChangeAdd, provider.ParticipantRemove: whatsmeow.ParticipantChangeRemove,
		provider.ParticipantPromote: whatsmeow.ParticipantChangePromote, provider.ParticipantDemote: whatsmeow.ParticipantChangeDemote,
	}[change]
	all, err := c.UpdateGroupParticipants(ctx, jid(chat), jids(who), action)
	if err != nil {
		return nil, queryError(err)
	}
	var out []provider.RefusedParticipant
	for _, p := range all {
		if p.Error != 0 && p.Error != alreadyDone[change] {
			out = append(out, gs.refusedOf(ctx, p))
		}
	}
	return out, nil
}

// alreadyDone are the network's codes of people for whom the change was already
// made before.
var alreadyDone = map[provider.ParticipantChange]int{provider.ParticipantAdd: 409, provider.ParticipantRemove: 404}

// GroupInvite returns the link by which people join a group. With reset, earlier
// links expire.
func (gs *groups) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (string, error) {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return "", err
	}
	link, err := c.GetGroupInviteLink(ctx, jid(chat), reset)
	return link, queryError(err)
}

// LeaveGroup leaves a group.
func (gs *groups) LeaveGroup(ctx context.Context, chat provider.Address) error {
	c, err := gs.conn.connected(ctx)
	if err != nil {
		return err
	}
	if _, err := c.GetGroupInfo(ctx, jid(chat)); err != nil { // leaving an unknown group is not refused
		return queryError(err)
	}
	return queryError(c.LeaveGroup(ctx, jid(chat)))
}

func jids(who []provider.Address) []types.JID {
	out := make([]types.JID, len(who))
	for i, a := range who {
		out[i] = jid(a)
	}
	return out
}

// describe returns what a group is. The account itself is not among its
// participants.
func (gs *groups) describe(ctx context.Context, c *whatsmeow.Client, info *types.GroupInfo) provider.Group {
	g := provider.Group{Chat: group(info.JID), Subject: info.Name, Description: info.Topic, CreatedAt: info.GroupCreated}
	own, lid := c.Store.GetJID().User, c.Store.GetLID().User
	for _, p := range info.Participants {
		switch {
		case p.JID.User == own, p.JID.User == lid, p.PhoneNumber.User == own && own != "":
			g.Admin = p.IsAdmin || p.IsSuperAdmin
		case p.Error != 0:
			g.Refused = append(g.Refused, gs.refusedOf(ctx, p))
		default:
			g.Participants = append(g.Participants, provider.Participant{
				Contact: provider.Contact{Address: gs.people.participant(ctx, p), Name: p.DisplayName}, Admin: p.IsAdmin || p.IsSuperAdmin,
			})
		}
	}
	return g
}

func (gs *groups) refusedOf(ctx context.Context, p types.GroupParticipant) provider.RefusedParticipant {
	out := provider.RefusedParticipant{Address: gs.people.participant(ctx, p)}
	out.Code, out.Message = strconv.Itoa(p.Error), "WhatsApp refused this person."
	if p.Error == 403 {
		out.Message = "This person lets only contacts add them to groups."
	}
	return out
}

// queryError returns the error of the contract for a refused query.
func queryError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, whatsmeow.ErrGroupNotFound), errors.Is(err, whatsmeow.ErrIQNotFound):
		return &provider.BadRecipient{Code: "not_found", Message: "WhatsApp does not know it."}
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrIQForbidden), errors.Is(err, whatsmeow.ErrIQNotAuthorized),
		errors.Is(err, whatsmeow.ErrGroupInviteLinkUnauthorized), errors.Is(err, whatsmeow.ErrIQNotAllowed):
		return &provider.Rejected{Code: "forbidden", Message: "The account may not do that."}
	case errors.Is(err, whatsmeow.ErrIQRateOverLimit):
		return &provider.RateLimited{After: slowDown, Code: "429", Message: "WhatsApp asks to slow down."}
	case errors.Is(err, whatsmeow.ErrIQNotAcceptable), errors.Is(err, whatsmeow.ErrIQBadRequest):
		return &provider.Rejected{Code: "refused", Message: "WhatsApp refused that."}
	}
	return &provider.Temporary{Err: errors.New(redacted(err))}
}

// firstQuery reports whether the session has not asked for a group's name yet,
// and records that it has.
func (gs *groups) firstQuery(group types.JID) bool {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.queried == nil {
		gs.queried = map[types.JID]bool{}
	}
	queried := gs.queried[group]
	gs.queried[group] = true
	return !queried
}

// askName asks for the name of a group once per session. It does so in the
// background, because whatsmeow's handlers must not send queries.
func (gs *groups) askName(group types.JID) {
	c := gs.conn.current()
	if c == nil || !gs.firstQuery(group) {
		return
	}
	gs.conn.spawn("asking for a group's name", func() {
		gs.query.Lock()
		defer gs.query.Unlock()
		info, err := c.GetGroupInfo(gs.conn.ctx, group)
		if err != nil {
			gs.conn.log.Debug("asking for a group's name", slog.Any("error", err))
			return
		}
		_ = gs.inbox.Receive(gs.conn.ctx, gs.conn.ref.ID, []provider.Event{named(info)}) // the next session asks again
	})
}

// named reports the present name of a group.
func named(info *types.GroupInfo) *provider.GroupChange {
	g := &provider.GroupChange{What: "group_subject", Chat: group(info.JID), At: info.NameSetAt, Subject: info.Name, Description: info.Topic}
	g.Raw = provider.Raw{Kind: "group", ID: fmt.Sprintf("%s:name:%d:%s", info.JID.User, info.NameSetAt.Unix(), info.TopicID)}
	return g
}

// events returns the events of a change of a group.
func (gs *groups) events(e any) []provider.Event {
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
		g.Joined, g.Left = gs.people.contacts(e.Join), gs.people.contacts(e.Leave)
		what := sha256.Sum256(fmt.Append(nil, g.Subject, g.Description, g.Invite, e.Join, e.Leave, e.Promote, e.Demote, e.ParticipantVersionID))
		g.Raw = provider.Raw{Kind: "group", ID: fmt.Sprintf("%s:%d:%x", e.JID.User, e.Timestamp.Unix(), what[:8])}
		return []provider.Event{g}
	}
	return nil
}
