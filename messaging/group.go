package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
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

// Group is a group as its network describes it.
type Group struct {
	ChatID       string               `json:"chatId" example:"120363041234567890@g.us"`
	Reference    provider.ReferenceID `json:"reference"`
	Subject      string               `json:"subject"`
	Description  string               `json:"description"`
	Admin        bool                 `json:"admin" doc:"The account may change it."`
	Participants []GroupMember        `json:"participants" nullable:"false" doc:"The account itself is not among them."`
	InviteLink   *string              `json:"inviteLink" doc:"By which anybody can join; null: only administrators see it."`
	Left         bool                 `json:"left" doc:"The account has just left it."`
	Refused      []GroupRefusal       `json:"refused" nullable:"false" doc:"With whom the network did not do what this request asked for."`
	CreatedAt    *UnixTime            `json:"createdAt"`
}

// GroupMember is somebody in a group.
type GroupMember struct {
	ChatID string  `json:"chatId" example:"16505551234"`
	Phone  *string `json:"phone"`
	Name   string  `json:"name"`
	Admin  bool    `json:"admin"`
}

// GroupRefusal is somebody with whom something could not be done.
type GroupRefusal struct {
	ChatID string  `json:"chatId"`
	Error  Failure `json:"error" doc:"In the network's own words."`
}

// NewGroup is what a group is made from.
type NewGroup struct {
	Subject      string   // 1..100 characters
	Participants []string // chat ids, 1..1024
}

// groupReference is a line of the account that has groups which can be managed.
type groupReference struct {
	*Account
	row      *store.Reference
	provider provider.Provider
	network  provider.GroupManager
}

func (a *Account) groups(ctx context.Context, ref provider.ReferenceID) (*groupReference, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return nil, err
	}
	sess, err := a.s.reach(ctx, row)
	if err != nil {
		return nil, err
	}
	m, ok := sess.(provider.GroupManager)
	if !ok {
		return nil, &Error{Code: CodeUnsupported, Message: "A line of type " + string(row.Kind) + " cannot manage groups."}
	}
	return &groupReference{a, row, p, m}, refusal.CheckUsable(row)
}

// CreateGroup makes a group of the account and others, and a chat for it. An
// [*Invalid] names what is wrong; the network's refusal is an [*Error]. Those
// whom the network would not add are in Refused.
func (a *Account) CreateGroup(ctx context.Context, ref provider.ReferenceID, n NewGroup) (Group, error) {
	g, err := a.groups(ctx, ref)
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
		return Group{}, &Invalid{Field: "participants", Message: "must name somebody"}
	}
	calling, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	made, err := g.network.CreateGroup(calling, subject, who)
	if err != nil {
		return Group{}, refusal.OfCall(ctx, err)
	}
	// It exists now, whether or not the caller still listens.
	if err := g.keep(context.WithoutCancel(ctx), sanitize.Address(made.Chat), cmp.Or(store.Sanitize(made.Subject), subject), audit.GroupCreate); err != nil {
		return Group{}, err
	}
	return g.view(ctx, made, made.Refused)
}

// Group describes a group that the account is in, as the network has it now.
func (a *Account) Group(ctx context.Context, ref provider.ReferenceID, chatID string) (Group, error) {
	g, err := a.groups(ctx, ref)
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
	calling, cancel := context.WithTimeout(ctx, sendTimeout)
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
		out.Participants = append(out.Participants, GroupMember{p.ChatID, optional(p.Phone), p.Name, p.Admin})
	}
	if err := g.noteHidden(ctx, from.Participants); err != nil {
		return out, err
	}
	for _, r := range refused {
		out.Refused = append(out.Refused, GroupRefusal{r.ChatID, Failure(r.Failure)})
	}
	if !from.Admin {
		return out, nil
	}
	calling, cancel := context.WithTimeout(ctx, sendTimeout)
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
		if h, is := hiddenOf(g.row.ID, p.Address); is {
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
		return chatChanged(ctx, u, l, c, setTitle(c, subject, database.Micros(u.Now)))
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
	s = strings.TrimSpace(store.Sanitize(s))
	if n := len([]rune(s)); n == 0 || n > maxSubject {
		return "", &Invalid{Field: "subject", Message: fmt.Sprintf("must have 1 to %d characters", maxSubject)}
	}
	return s, nil
}

// groupRefused is the error of a call about a group that failed.
func groupRefused(ctx context.Context, err error) error {
	var unknown *provider.BadRecipient
	if errors.As(err, &unknown) {
		return ErrNotFound
	}
	return refusal.OfCall(ctx, err)
}
