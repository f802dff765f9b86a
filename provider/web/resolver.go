package web

import (
	"cmp"
	"context"
	"log/slog"

	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// resolver finds the addresses of people. A person has a phone number and a LID,
// which hides the number; whatsmeow stores which belong together.
type resolver struct{ conn *connection }

// withMentions returns content whose mentions are the chat ids of the people.
func (rv *resolver) withMentions(c provider.Content) provider.Content {
	t, ok := c.(provider.Text)
	if !ok || len(t.Mentions) == 0 {
		return c
	}
	named := make([]string, 0, len(t.Mentions))
	for _, m := range t.Mentions {
		if j, err := types.ParseJID(m); err == nil {
			m = cmp.Or(rv.address(rv.conn.ctx, j, types.EmptyJID).ChatID, m)
		}
		named = append(named, m)
	}
	t.Mentions = named
	return t
}

// chatAndSender returns the chat and the sender of a received message.
func (rv *resolver) chatAndSender(ctx context.Context, m types.MessageSource) (chat provider.Address, from provider.Contact) {
	from.Address = rv.address(ctx, m.Sender, m.SenderAlt)
	switch {
	case m.IsGroup && !m.IsIncomingBroadcast():
		return group(m.Chat), from
	case m.IsFromMe:
		return rv.address(ctx, m.Chat, m.RecipientAlt), from
	}
	return from.Address, from
}

// address returns the address of the person with the ids a and b, of which b may
// be empty: it is looked up then. When the lookup fails, it aborts the
// connection: with one id alone the event could be stored in another chat.
func (rv *resolver) address(ctx context.Context, a, b types.JID) provider.Address {
	a, b = a.ToNonAD(), b.ToNonAD()
	c := rv.conn.current()
	if c == nil || !b.IsEmpty() {
		return person(a, b)
	}
	var err error
	switch a.Server {
	case types.HiddenUserServer:
		b, err = c.Store.LIDs.GetPNForLID(ctx, a)
	case types.DefaultUserServer:
		b, err = c.Store.LIDs.GetLIDForPN(ctx, a)
	}
	if err != nil && ctx.Err() == nil {
		rv.conn.log.WarnContext(ctx, "looking up a LID", slog.Any("error", err))
		rv.conn.abortCurrent()
	}
	return person(a, b)
}

// participant returns the address of a member of a group.
func (rv *resolver) participant(ctx context.Context, p types.GroupParticipant) provider.Address {
	if !p.PhoneNumber.IsEmpty() {
		return person(p.PhoneNumber.ToNonAD(), p.LID.ToNonAD())
	}
	return rv.address(ctx, p.JID, p.LID)
}

// CheckNumber reports whether a phone number has WhatsApp.
func (rv *resolver) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	if who.Phone == "" {
		return provider.NumberCheck{}, badRecipient
	}
	c, err := rv.conn.connected(ctx)
	if err != nil {
		return provider.NumberCheck{}, err
	}
	found, err := c.IsOnWhatsApp(ctx, []string{"+" + who.Phone})
	if err != nil {
		return provider.NumberCheck{}, queryError(err)
	}
	for _, f := range found {
		if f.IsIn {
			return provider.NumberCheck{Exists: &f.IsIn, Chat: rv.address(ctx, f.JID, types.EmptyJID)}, nil
		}
	}
	return provider.NumberCheck{Exists: new(bool)}, nil
}

// contacts returns the addresses of people.
func (rv *resolver) contacts(who []types.JID) []provider.Contact {
	var out []provider.Contact
	for _, j := range who {
		out = append(out, provider.Contact{Address: rv.address(rv.conn.ctx, j, types.EmptyJID)})
	}
	return out
}
