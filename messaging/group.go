package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	maxSubject      = 100  // characters, which is WhatsApp's limit
	maxParticipants = 1024 // likewise
)

// Groups are the groups that the references of an account are in.
type Groups Account

// Groups returns the groups of the account.
func (a *Account) Groups() *Groups { return (*Groups)(a) }

// groupReference is a reference whose network manages groups.
type groupReference struct {
	s        *Service
	row      *store.Reference
	provider provider.Provider
	network  provider.GroupManager
}

func (a *Groups) reference(ctx context.Context, ref provider.ReferenceID) (*groupReference, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return nil, err
	}
	sess, err := a.s.connections.Reach(ctx, row)
	if err != nil {
		return nil, err
	}
	m, ok := sess.(provider.GroupManager)
	if !ok {
		return nil, &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " cannot manage groups."}
	}
	return &groupReference{a.s, row, p, m}, refusal.CheckUsable(row)
}

// Create makes a group of the account and others, and a chat for it. An
// [*Invalid] names what is wrong; the network's refusal is an [*Error]. Those
// whom the network would not add are in Refused.
func (a *Groups) Create(ctx context.Context, ref provider.ReferenceID, n NewGroup) (Group, error) {
	g, err := a.reference(ctx, ref)
	if err != nil {
		return Group{}, err
	}
	subject, err := checkSubject(n.Subject)
	if err != nil {
		return Group{}, err
	}
	who, err := g.people(ctx, "participants", n.Participants)
	if err != nil {
		return Group{}, err
	}
	if len(who) == 0 {
		return Group{}, &Invalid{Field: "participants", Message: "must have at least one person"}
	}
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	made, err := g.network.CreateGroup(calling, subject, who)
	if err != nil {
		return Group{}, refusal.OfCall(ctx, err)
	}
	// It exists now, whether or not the caller still listens.
	if err := g.keep(context.WithoutCancel(ctx), sanitize.Address(made.Chat), cmp.Or(text.Sanitize(made.Subject), subject), audit.GroupCreate); err != nil {
		return Group{}, err
	}
	return g.view(ctx, made, made.Refused)
}

// Get describes a group that the account is in, as the network has it now.
func (a *Groups) Get(ctx context.Context, ref provider.ReferenceID, chatID string) (Group, error) {
	g, err := a.reference(ctx, ref)
	if err != nil {
		return Group{}, err
	}
	chat, err := g.chatOf(ctx, chatID)
	if err != nil {
		return Group{}, err
	}
	return g.show(ctx, chat, nil)
}

// show asks the network for a group.
func (g *groupReference) show(ctx context.Context, chat provider.Address, refused []provider.RefusedParticipant) (Group, error) {
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	found, err := g.network.Group(calling, chat)
	if err != nil {
		return Group{}, groupRefused(ctx, err)
	}
	return g.view(ctx, found, refused)
}

// view is a group as users see it, with the link by which it is joined.
func (g *groupReference) view(ctx context.Context, from provider.Group, refused []provider.RefusedParticipant) (Group, error) {
	out := Group{
		ChatID: from.Chat.ChatID, Reference: g.row.ID, Subject: from.Subject, Description: from.Description, Admin: from.Admin,
		Participants: []GroupMember{}, Refused: []GroupRefusal{}, CreatedAt: payload.OptionalTime(database.Micros(from.CreatedAt)),
	}
	for _, p := range from.Participants {
		out.Participants = append(out.Participants, GroupMember{ChatID: p.ChatID, Phone: optional(p.Phone), Name: p.Name, Admin: p.Admin})
	}
	if err := g.noteHidden(ctx, from.Participants); err != nil {
		return out, err
	}
	for _, r := range refused {
		out.Refused = append(out.Refused, GroupRefusal{ChatID: r.ChatID, Error: Failure(r.Failure)})
	}
	if !from.Admin {
		return out, nil
	}
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	link, err := g.network.GroupInvite(calling, from.Chat, false)
	if err != nil {
		return out, groupRefused(ctx, err)
	}
	out.InviteLink = optional(link)
	return out, nil
}

// noteHidden notes the hidden ids of participants, which are shown from now on.
func (g *groupReference) noteHidden(ctx context.Context, all []provider.Participant) error {
	var hidden []store.HiddenID
	for _, p := range all {
		if h, is := ingest.HiddenOf(g.row.ID, p.Address); is {
			hidden = append(hidden, h)
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	return g.s.store.InBatch(ctx, func(u *store.Batch) error {
		for _, h := range hidden {
			u.Hidden.Add(h)
		}
		return nil
	})
}

// keep makes the chat of a group, or renames it, as an action wants.
func (g *groupReference) keep(ctx context.Context, chat provider.Address, subject string, action audit.Action) error {
	l := g.row.Info(g.provider)
	return g.s.store.InBatch(ctx, func(u *store.Batch) error {
		who := store.Person{Reference: l, Address: chat}
		if err := u.Open(ctx, []store.Person{who}, nil); err != nil {
			return err
		}
		c := u.ChatOf(who)
		c.ActivityUS = cmp.Or(c.ActivityUS, database.Micros(u.Now))
		if err := recordGroupTx(ctx, u.Tx, action, l.ID, chat, "subject"); err != nil {
			return err
		}
		return ingest.ChatChanged(ctx, u, l, c, ingest.SetTitle(c, subject, database.Micros(u.Now)))
	})
}

// chatOf reads the chat id of a group.
func (g *groupReference) chatOf(ctx context.Context, chatID string) (provider.Address, error) {
	chat, err := g.s.recipients.Address(ctx, g.s.db, g.row.ID, g.provider, chatID)
	if err == nil && !chat.Group {
		err = &Invalid{Field: "chatId", Message: "must be the id of a group"}
	}
	return chat, err
}

// people reads the chat ids of participants.
func (g *groupReference) people(ctx context.Context, field string, ids []string) ([]provider.Address, error) {
	if len(ids) > maxParticipants {
		return nil, &Invalid{Field: field, Message: fmt.Sprintf("must be at most %d", maxParticipants)}
	}
	out := make([]provider.Address, len(ids))
	for i, id := range ids {
		at := fmt.Sprintf("%s[%d]", field, i)
		a, err := g.s.recipients.Address(ctx, g.s.db, g.row.ID, g.provider, id)
		switch {
		case err != nil:
			return nil, refusal.Renamed(err, at)
		case a.Group:
			return nil, &Invalid{Field: at, Message: "must be a person, not a group"}
		}
		out[i] = a
	}
	return out, nil
}

func checkSubject(s string) (string, error) {
	s = strings.TrimSpace(text.Sanitize(s))
	if n := len([]rune(s)); n == 0 || n > maxSubject {
		return "", &Invalid{Field: "subject", Message: fmt.Sprintf("must have 1 to %d characters", maxSubject)}
	}
	return s, nil
}

// groupRefused is the error of a call about a group that failed.
func groupRefused(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*provider.BadRecipient](err); ok {
		return ErrNotFound
	}
	return refusal.OfCall(ctx, err)
}

// GroupEdit holds what is to be changed of a group; nil and empty members
// stay. People are named by their chat ids.
type GroupEdit struct {
	Subject         *string
	Add, Remove     []string
	Promote, Demote []string // administrators
	ResetInvite     bool     // the links of before lead nowhere any more
	Leave           bool
}

// participants are the changes of participants in the order in which they are
// made.
func (e *GroupEdit) participants() []struct {
	change provider.ParticipantChange
	who    []string
} {
	return []struct {
		change provider.ParticipantChange
		who    []string
	}{
		{provider.ParticipantAdd, e.Add},
		{provider.ParticipantRemove, e.Remove},
		{provider.ParticipantPromote, e.Promote},
		{provider.ParticipantDemote, e.Demote},
	}
}

// groupStep is one call of an edit, and what is noted here when it is done.
type groupStep struct {
	call func(ctx context.Context) ([]provider.RefusedParticipant, error)
	note func(ctx context.Context) error
}

// do takes the step, and returns those whom the network refused.
func (s groupStep) do(ctx context.Context) ([]provider.RefusedParticipant, error) {
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	refused, err := s.call(calling)
	if err != nil {
		return nil, groupRefused(ctx, err)
	}
	return refused, s.note(context.WithoutCancel(ctx))
}

// Edit changes a group: first its subject, then its participants, then
// the link, and last it leaves. Everything is checked before the network is
// asked for anything; when the network refuses a step, those before it stay.
func (a *Groups) Edit(ctx context.Context, ref provider.ReferenceID, chatID string, e GroupEdit) (Group, error) {
	g, err := a.reference(ctx, ref)
	if err != nil {
		return Group{}, err
	}
	chat, err := g.chatOf(ctx, chatID)
	if err != nil {
		return Group{}, err
	}
	steps, err := g.steps(ctx, chat, &e)
	if err != nil {
		return Group{}, err
	}
	if len(steps) == 0 && !e.Leave {
		return Group{}, &Invalid{Field: "subject", Message: "or another change is required"}
	}
	var refused []provider.RefusedParticipant
	for _, step := range steps {
		not, err := step.do(ctx)
		if err != nil {
			return Group{}, err
		}
		refused = append(refused, not...)
	}
	out, err := g.show(ctx, chat, refused)
	if err != nil || !e.Leave {
		return out, err
	}
	leave := groupStep{
		call: func(ctx context.Context) ([]provider.RefusedParticipant, error) {
			return nil, g.network.LeaveGroup(ctx, chat)
		},
		note: g.noting(chat, "leave"),
	}
	if _, err := leave.do(ctx); err != nil {
		return Group{}, err
	}
	out.Left, out.Admin, out.InviteLink = true, false, nil
	return out, nil
}

// noting records a step of which nothing else is noted here.
func (g *groupReference) noting(chat provider.Address, changed string) func(context.Context) error {
	return func(ctx context.Context) error {
		return g.s.db.Write(ctx, func(tx *database.Tx) error { return recordGroupTx(ctx, tx, audit.GroupUpdate, g.row.ID, chat, changed) })
	}
}

// steps are the calls of an edit, but for the last.
func (g *groupReference) steps(ctx context.Context, chat provider.Address, e *GroupEdit) ([]groupStep, error) {
	var out []groupStep
	if e.Subject != nil {
		subject, err := checkSubject(*e.Subject)
		if err != nil {
			return nil, err
		}
		out = append(out, groupStep{
			call: func(ctx context.Context) ([]provider.RefusedParticipant, error) {
				return nil, g.network.SetGroupSubject(ctx, chat, subject)
			},
			note: func(ctx context.Context) error { return g.keep(ctx, chat, subject, audit.GroupUpdate) },
		})
	}
	for _, p := range e.participants() {
		who, err := g.people(ctx, string(p.change), p.who)
		if err != nil {
			return nil, err
		}
		if len(who) == 0 {
			continue
		}
		out = append(out, groupStep{
			call: func(ctx context.Context) ([]provider.RefusedParticipant, error) {
				return g.network.ChangeParticipants(ctx, chat, p.change, who)
			},
			note: g.noting(chat, string(p.change)),
		})
	}
	if e.ResetInvite {
		out = append(out, groupStep{
			call: func(ctx context.Context) ([]provider.RefusedParticipant, error) {
				_, err := g.network.GroupInvite(ctx, chat, true)
				return nil, err
			},
			note: g.noting(chat, "resetInvite"),
		})
	}
	return out, nil
}
