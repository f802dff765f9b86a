package web

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

var (
	_ provider.Linker        = (*session)(nil)
	_ provider.Reader        = (*session)(nil)
	_ provider.Typist        = (*session)(nil)
	_ provider.MediaFetcher  = (*session)(nil)
	_ provider.GroupManager  = (*session)(nil)
	_ provider.NumberChecker = (*session)(nil)
)

// CheckNumber asks whether a phone number has WhatsApp.
func (s *session) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	if who.Phone == "" {
		return provider.NumberCheck{}, badRecipient
	}
	c, err := s.connected(ctx)
	if err != nil {
		return provider.NumberCheck{}, err
	}
	found, err := c.IsOnWhatsApp(ctx, []string{"+" + who.Phone})
	if err != nil {
		return provider.NumberCheck{}, queryError(err)
	}
	for _, f := range found {
		if f.IsIn {
			return provider.NumberCheck{Exists: &f.IsIn, Chat: s.both(ctx, f.JID, types.EmptyJID)}, nil
		}
	}
	return provider.NumberCheck{Exists: new(bool)}, nil
}

// CreateGroup makes a group.
func (s *session) CreateGroup(ctx context.Context, subject string, who []provider.Address) (provider.Group, error) {
	c, err := s.connected(ctx)
	if err != nil {
		return provider.Group{}, err
	}
	info, err := c.CreateGroup(ctx, whatsmeow.ReqCreateGroup{Name: subject, Participants: jids(who)})
	if err != nil {
		return provider.Group{}, queryError(err)
	}
	g := s.group(ctx, c, info)
	for _, a := range who {
		if !isIn(g, a) {
			g.Refused = append(g.Refused, provider.RefusedParticipant{Address: a, Failure: notAdded})
		}
	}
	return g, nil
}

// notAdded is the error of a person of whom the network says nothing.
var notAdded = provider.Failure{Code: "not_added", Message: "WhatsApp did not add this person."}

// isIn reports whether a person is among those who were added, or refused.
func isIn(g provider.Group, who provider.Address) bool {
	same := func(a provider.Address) bool {
		return a.ChatID == who.ChatID || who.Phone != "" && a.Phone == who.Phone || who.LID != "" && a.LID == who.LID
	}
	return slices.ContainsFunc(g.Participants, func(p provider.Participant) bool { return same(p.Address) }) ||
		slices.ContainsFunc(g.Refused, func(r provider.RefusedParticipant) bool { return same(r.Address) })
}

// Group describes a group.
func (s *session) Group(ctx context.Context, chat provider.Address) (provider.Group, error) {
	c, err := s.connected(ctx)
	if err != nil {
		return provider.Group{}, err
	}
	info, err := c.GetGroupInfo(ctx, jid(chat))
	if err != nil {
		return provider.Group{}, queryError(err)
	}
	return s.group(ctx, c, info), nil
}

// SetGroupSubject names a group.
func (s *session) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	return queryError(c.SetGroupName(ctx, jid(chat), subject))
}

// ChangeParticipants adds, removes, promotes or demotes people.
func (s *session) ChangeParticipants(ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address,
) ([]provider.RefusedParticipant, error) {
	c, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	word := map[provider.ParticipantChange]whatsmeow.ParticipantChange{
		provider.ParticipantAdd: whatsmeow.ParticipantChangeAdd, provider.ParticipantRemove: whatsmeow.ParticipantChangeRemove,
		provider.ParticipantPromote: whatsmeow.ParticipantChangePromote, provider.ParticipantDemote: whatsmeow.ParticipantChangeDemote,
	}[change]
	all, err := c.UpdateGroupParticipants(ctx, jid(chat), jids(who), word)
	if err != nil {
		return nil, queryError(err)
	}
	var out []provider.RefusedParticipant
	for _, p := range all {
		if p.Error != 0 && p.Error != asWished[change] {
			out = append(out, s.refusedOf(ctx, p))
		}
	}
	return out, nil
}

// asWished are the network's codes of people with whom it is already as it was
// asked for.
var asWished = map[provider.ParticipantChange]int{provider.ParticipantAdd: 409, provider.ParticipantRemove: 404}

// GroupInvite is the link by which anybody joins.
func (s *session) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (string, error) {
	c, err := s.connected(ctx)
	if err != nil {
		return "", err
	}
	link, err := c.GetGroupInviteLink(ctx, jid(chat), reset)
	return link, queryError(err)
}

// LeaveGroup leaves a group.
func (s *session) LeaveGroup(ctx context.Context, chat provider.Address) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	if _, err := c.GetGroupInfo(ctx, jid(chat)); err != nil { // of a group that it does not know it would say nothing
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

// group describes a group without the account itself.
func (s *session) group(ctx context.Context, c *whatsmeow.Client, info *types.GroupInfo) provider.Group {
	g := provider.Group{Chat: group(info.JID), Subject: info.Name, Description: info.Topic, CreatedAt: info.GroupCreated}
	own, lid := c.Store.GetJID().User, c.Store.GetLID().User
	for _, p := range info.Participants {
		switch {
		case p.JID.User == own, p.JID.User == lid, p.PhoneNumber.User == own && own != "":
			g.Admin = p.IsAdmin || p.IsSuperAdmin
		case p.Error != 0:
			g.Refused = append(g.Refused, s.refusedOf(ctx, p))
		default:
			g.Participants = append(g.Participants, provider.Participant{
				Contact: provider.Contact{Address: s.participant(ctx, p), Name: p.DisplayName}, Admin: p.IsAdmin || p.IsSuperAdmin,
			})
		}
	}
	return g
}

func (s *session) participant(ctx context.Context, p types.GroupParticipant) provider.Address {
	if !p.PhoneNumber.IsEmpty() {
		return person(p.PhoneNumber.ToNonAD(), p.LID.ToNonAD())
	}
	return s.both(ctx, p.JID, p.LID)
}

func (s *session) refusedOf(ctx context.Context, p types.GroupParticipant) provider.RefusedParticipant {
	out := provider.RefusedParticipant{Address: s.participant(ctx, p)}
	out.Code, out.Message = strconv.Itoa(p.Error), "WhatsApp refused this person."
	if p.Error == 403 {
		out.Message = "This person lets only contacts add them to groups."
	}
	return out
}

// queryError tells what a refused question means.
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
