package messaging_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
)

// TestRemoteJIDOfHiddenParticipant answers somebody who wrote in a group only,
// under a hidden id. Another contact has a phone number of the same digits.
func TestRemoteJIDOfHiddenParticipant(t *testing.T) {
	t.Parallel()
	const digits, hiddenToo = "491510000009", "901111111111111"
	hidden := provider.Address{ChatID: digits + "@lid", LID: digits}
	other := provider.Address{ChatID: digits + "@s.whatsapp.net", Phone: digits}
	group := provider.Address{ChatID: "120363@g.us", Group: true}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = realKinds(nil) }})
		ref := f.reference(t, web.Kind)
		from := func(id string, who, chat provider.Address) provider.Event {
			return text(id, "", "hello", func(m *provider.Message) { m.Chat, m.From = chat, provider.Contact{Address: who} })
		}
		f.receive(t, ref, from("h0", provider.Address{ChatID: hiddenToo + "@lid", LID: hiddenToo}, group), from("h1", hidden, group))
		sent, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: hiddenToo + "::single", Content: provider.Text{Text: "for h"}})
		require.NoError(t, err)
		require.Equal(t, hiddenToo+"@lid", sent.Message.ChatID)

		f.receive(t, ref, from("o1", other, other))
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: digits + "::single", Content: provider.Text{Text: "for h"}})
		require.True(t, refusedID(err), "%v", err)
		require.ErrorContains(t, err, hidden.ChatID)
		require.ErrorContains(t, err, other.ChatID)
		for _, a := range []provider.Address{hidden, other} {
			sent, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: a.ChatID, Content: provider.Text{Text: "for one"}})
			require.NoError(t, err)
			require.Equal(t, a.ChatID, sent.Message.ChatID)
		}

		// So it is when both have chats.
		f.receive(t, ref, from("h2", hidden, hidden))
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: digits + "::single", Content: provider.Text{Text: "for h"}})
		require.True(t, refusedID(err), "%v", err)
	})
}

// TestRepeatToRemoteJIDAfterPhoneIsKnown repeats a send under its
// Idempotency-Key after the contact's phone number became known.
func TestRepeatToRemoteJIDAfterPhoneIsKnown(t *testing.T) {
	t.Parallel()
	const lid = "901111111111111"
	hidden := provider.Address{ChatID: lid + "@lid", LID: lid}
	whole := provider.Address{ChatID: "491510000002@s.whatsapp.net", Phone: "491510000002", LID: lid}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = realKinds(nil) }})
		ref := f.reference(t, web.Kind)
		from := func(id string, who provider.Address) provider.Event {
			return text(id, "", "hello", func(m *provider.Message) { m.Chat, m.From = who, provider.Contact{Address: who} })
		}
		send := messaging.SendRequest{Reference: ref, ChatID: lid + "::single", Content: provider.Text{Text: "once"}, IdempotencyKey: "key"}
		f.receive(t, ref, from("m1", hidden))
		first, err := f.acc.Send(t.Context(), send)
		require.NoError(t, err)
		f.receive(t, ref, from("m2", whole))
		again, err := f.acc.Send(t.Context(), send)
		require.NoError(t, err)
		require.Equal(t, first.Message.ID, again.Message.ID)
		require.Equal(t, whole.ChatID, again.Message.ChatID)

		send.ChatID = "491510000003"
		_, err = f.acc.Send(t.Context(), send)
		var refused *messaging.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, messaging.CodeConflict, refused.Code)
	})
}

// groupNetwork is WhatsApp Web with one group.
type groupNetwork struct {
	*addressed
	group provider.Group
}

func (n *groupNetwork) Open(context.Context, provider.Reference, provider.Inbox) (provider.Session, error) {
	return groupSession{Session: addressedSession{addressed: n.addressed}, group: n.group}, nil
}

type groupSession struct {
	provider.Session
	provider.GroupManager
	group provider.Group
}

func (s groupSession) Group(context.Context, provider.Address) (provider.Group, error) {
	return s.group, nil
}

// TestHiddenParticipantsAreListed strips the suffix from the chat id of a
// participant who was listed and never wrote.
func TestHiddenParticipantsAreListed(t *testing.T) {
	t.Parallel()
	const lid = "901111111111111"
	group := provider.Group{Chat: provider.Address{ChatID: "120363@g.us", Group: true}, Participants: []provider.Participant{
		{Contact: provider.Contact{Address: provider.Address{ChatID: lid + "@lid", LID: lid}}},
		{Contact: provider.Contact{Address: provider.Address{ChatID: "491510000002@s.whatsapp.net", Phone: "491510000002", LID: "902"}}},
	}}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		network := &groupNetwork{&addressed{kind: web.Kind, address: (*web.Provider)(nil).Address}, group}
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Providers = []provider.Provider{network} }})
		ref := f.reference(t, web.Kind)
		for range 2 {
			shown, err := f.acc.Groups().Get(t.Context(), ref, group.Chat.ChatID)
			require.NoError(t, err)
			require.Equal(t, lid+"@lid", shown.Participants[0].ChatID)
		}
		_, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: lid, Content: provider.Text{Text: "for the participant"}})
		require.True(t, refusedID(err), "%v", err)
		require.ErrorContains(t, err, lid+"@lid")
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_lid`))
	})
}
