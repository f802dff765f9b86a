package web_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestTexts goes both ways, by number, with receipts and replies.
func TestTexts(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		ana := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
		id, err := ana.SendText(soon(t), f.owner.LID(), "Hello")
		require.NoError(t, err)
		m := f.inbox.message(t, id)
		require.Equal(t, provider.Text{Text: "Hello"}, m.Content)
		require.Equal(t, provider.Address{
			ChatID: ana.JID().User + "@s.whatsapp.net", Phone: ana.JID().User, LID: ana.LID().User,
		}, m.Chat)
		require.Equal(t, "Ana", m.From.Name)
		require.False(t, m.Mine)
		require.NoError(t, f.device.AwaitAck(soon(t), id))

		own := f.send(t, m.Chat, provider.Text{Text: "Hi Ana"})
		got, err := ana.AwaitText(soon(t), "Hi Ana")
		require.NoError(t, err)
		require.Equal(t, own, got.ID)
		await(t, f.inbox, func(s *provider.StatusChange) bool { return s.MessageID == own && s.Status == provider.StatusDelivered })
		ana.Read(got.Chat, got.From, own)
		await(t, f.inbox, func(s *provider.StatusChange) bool { return s.MessageID == own && s.Status == provider.StatusRead })

		require.NoError(t, f.session.(provider.Reader).MarkRead(soon(t), m.Chat, id))
		require.NoError(t, f.session.(provider.Typist).Typing(soon(t), m.Chat, id))
		_, err = ana.AwaitTyping(soon(t), true)
		require.NoError(t, err)
	})
}

// TestHiddenNumber has a contact whose number is not known, until it is.
func TestHiddenNumber(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		eve := fake.AddPhone(&webtest.PhoneOptions{Hidden: true})
		id, err := eve.SendText(soon(t), f.owner.LID(), "guess")
		require.NoError(t, err)
		m := f.inbox.message(t, id)
		require.Equal(t, provider.Address{ChatID: eve.LID().User + "@lid", LID: eve.LID().User}, m.Chat)
		f.send(t, m.Chat, provider.Text{Text: "no"})
		_, err = eve.AwaitText(soon(t), "no")
		require.NoError(t, err)
		eve.Reveal()
		id, err = eve.SendText(soon(t), f.owner.LID(), "it is me")
		require.NoError(t, err)
		require.Equal(t, eve.JID().User, f.inbox.message(t, id).Chat.Phone)
	})
}

// TestNothingIsLost has a store that refuses what comes: it comes again, and is
// acknowledged only then.
func TestNothingIsLost(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		ana := fake.AddPhone(nil)
		f.inbox.fail.Store(2)
		id, err := ana.SendText(soon(t), f.owner.LID(), "keep this")
		require.NoError(t, err)
		f.inbox.message(t, id)
		require.NoError(t, f.device.AwaitAck(soon(t), id))
		require.NoError(t, f.device.AwaitIdle(soon(t)))
		require.Equal(t, 1, f.inbox.count(id))
		require.GreaterOrEqual(t, len(f.device.Logins()), 2)
		await(t, f.inbox, func(c *provider.Connection) bool { return c.State == provider.Reconnecting })
	})
}

// TestUndecryptable has a message that cannot be read at first.
func TestUndecryptable(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		ana := fake.AddPhone(nil)
		id, err := ana.SendText(soon(t), f.owner.LID(), "first")
		require.NoError(t, err)
		f.inbox.message(t, id)
		id, err = ana.Send(soon(t), webtest.Outgoing{To: f.owner.LID(), Message: textMessage("damaged"), Damage: 1})
		require.NoError(t, err)
		require.Equal(t, provider.Unknown{Kind: provider.Undecryptable}, f.inbox.message(t, id).Content)
		m := await(t, f.inbox, func(m *provider.Message) bool { return m.ID == id && m.Content.Type() == "text" })
		require.Equal(t, provider.Text{Text: "damaged"}, m.Content)
	})
}

// TestGroup writes and reads in a group, and learns its name.
func TestGroup(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		ana, ben := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"}), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner, ben}})
		await(t, f.inbox, func(c *provider.GroupChange) bool { return c.Chat.ChatID == g.String() && c.Subject == "Trip" })
		id, err := ana.SendText(soon(t), g, "Where to?")
		require.NoError(t, err)
		m := f.inbox.message(t, id)
		require.Equal(t, provider.Address{ChatID: g.String(), Group: true}, m.Chat)
		require.Equal(t, ana.JID().User, m.From.Phone)
		require.Equal(t, "Ana", m.From.Name)
		own := f.send(t, m.Chat, provider.Text{Text: "To the sea"})
		for _, p := range []*webtest.Phone{ana, ben} {
			got, err := p.AwaitText(soon(t), "To the sea")
			require.NoError(t, err)
			require.Equal(t, own, got.ID)
		}
		status := await(t, f.inbox, func(s *provider.StatusChange) bool { return s.MessageID == own })
		require.NotEmpty(t, status.Participant)
		require.NoError(t, ana.Groups().Rename(g, "Sea trip"))
		await(t, f.inbox, func(c *provider.GroupChange) bool { return c.Subject == "Sea trip" })
	})
}
