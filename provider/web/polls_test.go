package web_test

import (
	"bytes"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/providertest"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

var lunch = provider.Poll{Question: "Lunch?", Options: []string{"soup", "salad", "bread"}}

// chosen is a vote for options of lunch, as the network reports it.
func chosen(poll string, options ...string) provider.Vote {
	return provider.Vote{MessageID: poll, Hashes: whatsmeow.HashPollOptions(options)}
}

// polled is the poll that a phone has received.
func polled(t testing.TB, p *webtest.Phone, id string) *webtest.Message {
	t.Helper()
	m, err := p.Await(soon(t), func(m *webtest.Message) bool { return m.ID == id })
	require.NoError(t, err)
	return m
}

// TestPolls sends a poll, and reads votes, changed votes and withdrawn votes of
// a contact, also after a restart.
func TestPolls(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		id := f.send(t, f.number(t, ana), lunch)
		poll := polled(t, ana, id)
		creation := poll.Content.GetPollCreationMessage()
		require.Equal(t, "Lunch?", creation.GetName())
		require.EqualValues(t, 1, creation.GetSelectableOptionsCount())
		require.Equal(t, "salad", creation.GetOptions()[1].GetOptionName())
		vote := func(options ...string) *provider.Message {
			id, err := ana.Polls().Vote(soon(t), poll, options...)
			require.NoError(t, err)
			return f.inbox.message(t, id)
		}
		m := vote("salad")
		require.Equal(t, chosen(id, "salad"), m.Content)
		require.Equal(t, ana.JID().User, m.Chat.Phone)
		require.False(t, m.Mine)
		require.Equal(t, chosen(id, "soup", "bread"), vote("soup", "bread").Content)

		f.close(t)
		require.NoError(t, f.device.AwaitGone(soon(t)))
		f.open(t)
		require.Equal(t, chosen(id, "bread"), vote("bread").Content)
		require.Empty(t, vote().Content.(provider.Vote).Hashes)

		many := lunch
		many.Multiple = true
		id = f.send(t, f.number(t, ana), many)
		require.Zero(t, polled(t, ana, id).Content.GetPollCreationMessage().GetSelectableOptionsCount())
	})
}

// TestVotes_AnyIDs reads votes that are addressed to one id of a person and
// encrypted with the other.
func TestVotes_AnyIDs(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		id := f.send(t, f.number(t, ana), lunch)
		poll := polled(t, ana, id)
		for _, to := range []types.JID{f.owner.LID(), f.owner.JID()} {
			for _, author := range []types.JID{f.owner.LID(), f.owner.JID()} {
				for _, voter := range []types.JID{ana.LID(), ana.JID()} {
					cast, err := ana.Polls().Cast(soon(t), webtest.Ballot{Poll: poll, Options: []string{"soup"}, To: to, Author: author, Voter: voter})
					require.NoError(t, err)
					require.Equal(t, chosen(id, "soup"), f.inbox.message(t, cast).Content, "to %s for %s by %s", to, author, voter)
				}
			}
		}
	})
}

// TestPolls_InGroup has several voters.
func TestPolls_InGroup(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner, ben}})
		await(t, f.inbox, func(c *provider.GroupChange) bool { return c.Chat.ChatID == g.String() })
		id := f.send(t, provider.Address{ChatID: g.String(), Group: true}, lunch)
		for _, p := range []*webtest.Phone{ana, ben} {
			cast, err := p.Polls().Vote(soon(t), polled(t, p, id), "salad")
			require.NoError(t, err)
			m := f.inbox.message(t, cast)
			require.Equal(t, chosen(id, "salad"), m.Content)
			require.Equal(t, g.String(), m.Chat.ChatID)
			require.Equal(t, p.JID().User, m.From.Phone)
		}
	})
}

// TestPolls_SentAgain reads the vote in either copy of a poll whose first send
// may have failed.
func TestPolls_SentAgain(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		out := provider.Outbound{ID: f.p.NewMessageID(), To: f.number(t, ana), Content: lunch}
		require.True(t, f.fails(providertest.Unavailable))
		_, err := f.session.Send(soon(t), out)
		var temporary *provider.Temporary
		require.ErrorAs(t, err, &temporary)
		_, err = f.session.Send(soon(t), out)
		require.NoError(t, err)
		cast, err := ana.Polls().Vote(soon(t), polled(t, ana, out.ID), "salad")
		require.NoError(t, err)
		require.Equal(t, chosen(out.ID, "salad"), f.inbox.message(t, cast).Content)
	})
}

// TestUnreadableVotes reports votes that cannot be read, and reads those that
// come again.
func TestUnreadableVotes(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		id := f.send(t, f.number(t, ana), lunch)
		poll := polled(t, ana, id)
		unreadable := provider.Unknown{Kind: "poll_vote"}
		cast := func(b webtest.Ballot) string {
			id, err := ana.Polls().Cast(soon(t), b)
			require.NoError(t, err)
			return id
		}
		unknown := *poll
		unknown.ID = "UNKNOWN"
		require.Equal(t, unreadable, f.inbox.message(t, cast(webtest.Ballot{Poll: &unknown, Options: []string{"soup"}})).Content)
		stranger := webtest.Ballot{Poll: poll, Options: []string{"soup"}, Voter: types.NewJID("123", types.HiddenUserServer)}
		require.Equal(t, unreadable, f.inbox.message(t, cast(stranger)).Content)
		require.Equal(t, unreadable, f.inbox.message(t, cast(webtest.Ballot{Poll: poll, Options: []string{"soup"}, Nonce: []byte{1, 2}})).Content)

		damaged := cast(webtest.Ballot{Poll: poll, Options: []string{"soup"}, Damage: 1})
		require.Equal(t, provider.Unknown{Kind: provider.Undecryptable}, f.inbox.message(t, damaged).Content)
		await(t, f.inbox, func(m *provider.Message) bool { return m.ID == damaged && m.Content.Type() == "vote" })
	})
}

// TestVotes_OfAccount votes in polls of others, and in one of the account.
func TestVotes_OfAccount(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner, ben}})
		await(t, f.inbox, func(c *provider.GroupChange) bool { return c.Chat.ChatID == g.String() })
		creation := &waE2E.Message{
			PollCreationMessage: &waE2E.PollCreationMessage{
				Name: proto.String("Lunch?"), SelectableOptionsCount: proto.Uint32(0),
				Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("soup")}, {OptionName: proto.String("salad")}},
			},
			MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: bytes.Repeat([]byte{7}, 32)},
		}
		for _, to := range []types.JID{f.owner.LID(), f.owner.JID(), g} {
			id, err := ana.Send(soon(t), webtest.Outgoing{To: to, Message: creation})
			require.NoError(t, err)
			m := f.inbox.message(t, id)
			require.Equal(t, provider.Poll{Question: "Lunch?", Options: []string{"soup", "salad"}, Multiple: true}, m.Content)
			author := ana.LID()
			if to.Server == types.DefaultUserServer {
				author = ana.JID()
			}
			cast := f.send(t, m.Chat, provider.Vote{MessageID: id, Options: []string{"salad", "soup"}})
			got := polled(t, ana, cast)
			key := got.Content.GetPollUpdateMessage().GetPollCreationMessageKey()
			require.Equal(t, id, key.GetID())
			require.False(t, key.GetFromMe())
			names, err := ana.Polls().Open(&webtest.Message{ID: id, From: author, Content: creation}, got)
			require.NoError(t, err, "to %s", to)
			require.Equal(t, []string{"soup", "salad"}, names)
		}
		own := f.send(t, f.number(t, ana), lunch)
		poll := polled(t, ana, own)
		names, err := ana.Polls().Open(poll, polled(t, ana, f.send(t, f.number(t, ana), provider.Vote{MessageID: own, Options: []string{"bread"}})))
		require.NoError(t, err)
		require.Equal(t, []string{"bread"}, names)

		_, err = f.session.Send(soon(t), provider.Outbound{ID: f.p.NewMessageID(), To: f.number(t, ana), Content: provider.Vote{MessageID: "3EB0UNKNOWN", Options: []string{"soup"}}})
		var refused *provider.Rejected
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "forgotten", refused.Code)
	})
}
