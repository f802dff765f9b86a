package messaging

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/provider"
)

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
	calling, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	refused, err := s.call(calling)
	if err != nil {
		return nil, groupRefused(ctx, err)
	}
	return refused, s.note(context.WithoutCancel(ctx))
}

// EditGroup changes a group: first its subject, then its participants, then
// the link, and last it leaves. Everything is checked before the network is
// asked for anything; when the network refuses a step, those before it stay.
func (a *Account) EditGroup(ctx context.Context, ref provider.ReferenceID, chatID string, e GroupEdit) (Group, error) {
	g, err := a.groups(ctx, ref)
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
		return Group{}, &Invalid{Field: "subject", Message: "or something else to change is required"}
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
		return g.s.db.Write(ctx, func(tx *sqlx.Tx) error { return recordGroupTx(ctx, tx, audit.GroupUpdate, g.row.ID, chat, changed) })
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
