package web_test

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/proto/waCommon"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestGroupAdministration makes a group, changes it and leaves it.
func TestGroupAdministration(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, m := paired(t, db), func(f *fixture) provider.GroupManager { return f.session.(provider.GroupManager) }
		ana, ben := fake.AddPhone(nil), fake.AddPhone(nil)
		shy := fake.AddPhone(&webtest.PhoneOptions{InviteOnly: true})
		g, err := m(f).CreateGroup(soon(t), "Trip", []provider.Address{f.number(t, ana), f.number(t, shy)})
		require.NoError(t, err)
		require.True(t, g.Admin)
		require.Len(t, g.Participants, 1)
		require.Equal(t, ana.JID().User, g.Participants[0].Phone)
		require.Len(t, g.Refused, 1)
		require.Equal(t, shy.JID().User, g.Refused[0].Phone)
		require.NotEmpty(t, g.Refused[0].Code)
		require.NotEmpty(t, g.Refused[0].Message)

		refused, err := m(f).ChangeParticipants(soon(t), g.Chat, provider.ParticipantAdd, []provider.Address{f.number(t, ben), f.number(t, shy)})
		require.NoError(t, err)
		require.Len(t, refused, 1)
		require.Equal(t, "403", refused[0].Code)
		require.Equal(t, shy.JID().User, refused[0].Phone)
		require.NoError(t, m(f).SetGroupSubject(soon(t), g.Chat, "Sea trip"))
		_, err = m(f).ChangeParticipants(soon(t), g.Chat, provider.ParticipantPromote, []provider.Address{f.number(t, ana)})
		require.NoError(t, err)
		now, err := m(f).Group(soon(t), g.Chat)
		require.NoError(t, err)
		require.Equal(t, "Sea trip", now.Subject)
		admins := map[string]bool{}
		for _, p := range now.Participants {
			admins[p.Phone] = p.Admin
		}
		require.Equal(t, map[string]bool{ana.JID().User: true, ben.JID().User: false}, admins)

		link, err := m(f).GroupInvite(soon(t), g.Chat, false)
		require.NoError(t, err)
		same, err := m(f).GroupInvite(soon(t), g.Chat, false)
		require.NoError(t, err)
		require.Equal(t, link, same)
		other, err := m(f).GroupInvite(soon(t), g.Chat, true)
		require.NoError(t, err)
		require.NotEqual(t, link, other)
		require.NoError(t, shy.Groups().Join(other[strings.LastIndex(other, "/")+1:]))
		await(t, f.inbox, func(c *provider.GroupChange) bool {
			return len(c.Joined) == 1 && c.Joined[0].Phone == shy.JID().User
		})
		_, err = m(f).ChangeParticipants(soon(t), g.Chat, provider.ParticipantRemove, []provider.Address{f.number(t, ben)})
		require.NoError(t, err)
		require.NoError(t, m(f).LeaveGroup(soon(t), g.Chat))
		_, err = m(f).Group(soon(t), g.Chat)
		var out *provider.Rejected
		require.ErrorAs(t, err, &out)
		unknown, err := f.p.Address("120363999999999999@g.us")
		require.NoError(t, err)
		_, err = m(f).Group(soon(t), unknown)
		var none *provider.BadRecipient
		require.ErrorAs(t, err, &none)
	})
}

// TestGroupTalk is about messages of a group: who is meant by a reaction, an
// answer and a reading, and files.
func TestGroupTalk(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben := paired(t, db), fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"}), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner, ben}})
		id, err := ana.SendText(soon(t), g, "Where to?")
		require.NoError(t, err)
		m := f.inbox.message(t, id)
		reaction := f.answers(t, m.Chat, ana, provider.Reaction{MessageID: id, Emoji: "🏖"}).Content.GetReactionMessage()
		require.Equal(t, id, reaction.GetKey().GetID())
		require.False(t, reaction.GetKey().GetFromMe())
		require.Contains(t, reaction.GetKey().GetParticipant(), ana.LID().User)
		require.NoError(t, f.session.(provider.Reader).MarkRead(soon(t), m.Chat, id))
		_, err = ana.AwaitReceipt(soon(t), id, "read")
		require.NoError(t, err)

		picture := uploaded(t, ben, provider.Image, []byte("a beach"))
		sent, err := ben.Send(soon(t), webtest.Outgoing{To: g, Message: picture})
		require.NoError(t, err)
		f.fetch(t, f.inbox.message(t, sent).Content, []byte("a beach"))
		got := f.answers(t, m.Chat, ben, file(provider.Image, "image/jpeg", []byte("a lake")))
		back, err := ben.Download(got.Content.GetImageMessage())
		require.NoError(t, err)
		require.Equal(t, "a lake", string(back))

		damaged, err := ben.Send(soon(t), webtest.Outgoing{To: g, Message: textMessage("say again"), Damage: 1})
		require.NoError(t, err)
		await(t, f.inbox, func(m *provider.Message) bool { return m.ID == damaged && saying("say again")(m) })
		require.NoError(t, ana.Groups().Remove(g, ben))
		await(t, f.inbox, func(c *provider.GroupChange) bool { return len(c.Left) == 1 && c.Left[0].Phone == ben.JID().User })
		require.NoError(t, ana.Groups().Rename(g, "A"))
		require.NoError(t, ana.Groups().Rename(g, "B")) // in the same second
		ids := map[string]bool{}
		for _, name := range []string{"A", "B"} {
			ids[await(t, f.inbox, func(c *provider.GroupChange) bool { return c.Subject == name }).ID] = true
		}
		require.Len(t, ids, 2, "each change is a report of its own")
	})
}

// TestNumbers asks who has WhatsApp.
func TestNumbers(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		check := f.session.(provider.NumberChecker).CheckNumber
		there, err := check(soon(t), f.number(t, ana))
		require.NoError(t, err)
		require.True(t, *there.Exists)
		require.Equal(t, ana.JID().User, there.Chat.Phone)
		nobody, err := f.p.Address("+4999999999998")
		require.NoError(t, err)
		there, err = check(soon(t), nobody)
		require.NoError(t, err)
		require.False(t, *there.Exists)
		_, err = check(soon(t), provider.Address{ChatID: "1@lid", LID: "1"})
		var none *provider.BadRecipient
		require.ErrorAs(t, err, &none, "a hidden id is no number")
	})
}

// TestForgotten is about messages of before a restart: who wrote them is what
// the caller says.
func TestForgotten(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner, ben}})
		id, err := ben.SendText(soon(t), g, "Where to?")
		require.NoError(t, err)
		chat := f.inbox.message(t, id).Chat
		direct := f.says(t, ana, textMessage("and you?"))
		own, err := f.owner.SendText(soon(t), ana.LID(), "from the phone")
		require.NoError(t, err)
		f.inbox.message(t, own)
		f.close(t)
		f.open(t)
		f.inbox.state(t, provider.Connected)

		react := func(to provider.Address, id string, about *provider.About) *waCommon.MessageKey {
			out := provider.Outbound{ID: f.p.NewMessageID(), To: to, About: about, Content: provider.Reaction{MessageID: id, Emoji: "👍"}}
			_, err := f.session.Send(soon(t), out)
			require.NoError(t, err)
			got, err := ana.Await(soon(t), func(m *webtest.Message) bool { return m.ID == out.ID })
			require.NoError(t, err)
			return got.Content.GetReactionMessage().GetKey()
		}
		_, err = f.session.Send(soon(t), provider.Outbound{ID: f.p.NewMessageID(), To: chat, Content: provider.Reaction{MessageID: id, Emoji: "👍"}})
		var refused *provider.Rejected
		require.ErrorAs(t, err, &refused, "nobody says who")
		for _, name := range []string{ben.JID().User, ben.LID().User} {
			key := react(chat, id, &provider.About{From: name + "::single"})
			require.Equal(t, ben.LID().String(), key.GetParticipant(), "as the group addresses him")
			require.False(t, key.GetFromMe())
		}
		require.False(t, react(direct.Chat, direct.ID, &provider.About{}).GetFromMe())
		require.True(t, react(direct.Chat, own, &provider.About{Mine: true}).GetFromMe())
		read := f.session.(provider.AboutReader)
		require.NoError(t, read.MarkReadAbout(soon(t), chat, id, provider.About{From: ben.JID().User + "::single"}))
		_, err = ben.AwaitReceipt(soon(t), id, "read")
		require.NoError(t, err)

		answer := provider.Outbound{
			ID: f.p.NewMessageID(), To: direct.Chat, ReplyTo: direct.ID, About: &provider.About{Text: "and you?"}, Content: provider.Text{Text: "me too"},
		}
		_, err = f.session.Send(soon(t), answer)
		require.NoError(t, err)
		got, err := ana.AwaitText(soon(t), "me too")
		require.NoError(t, err)
		require.Equal(t, "and you?", got.Content.GetExtendedTextMessage().GetContextInfo().GetQuotedMessage().GetConversation())
	})
}
