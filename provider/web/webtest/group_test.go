package webtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// A phone makes a group, and all in it read each other, in both ways to
// address members.
func TestGroupMessages(t *testing.T) {
	t.Parallel()
	for name, byNumber := range map[string]bool{"by LID": false, "by number": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := start(t)
			owner, ana, ben := fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
			c, device := link(t, fake, owner)
			ctx := within(t)
			group := ana.Groups().Create(webtest.GroupOptions{Subject: "Friends", Members: []*webtest.Phone{owner, ben}, ByNumber: byNumber})
			require.Equal(t, "Friends", await[*events.JoinedGroup](c, nil).Name)
			for _, stated := range []string{"first", "second"} {
				_, err := ana.SendText(ctx, group, stated)
				require.NoError(t, err)
				got := await(c, says(stated))
				require.Equal(t, group, got.Info.Chat)
				want, alt := ana.LID(), ana.JID()
				if byNumber {
					want, alt = alt, want
				}
				require.Equal(t, want, got.Info.Sender)
				require.Equal(t, alt, got.Info.SenderAlt)
				_, err = ben.AwaitText(ctx, stated)
				require.NoError(t, err)
			}
			for _, stated := range []string{"third", "fourth"} {
				sent, err := c.SendMessage(ctx, group, text(stated))
				require.NoError(t, err)
				for _, p := range []*webtest.Phone{ana, ben, owner} {
					m, err := p.AwaitText(ctx, stated)
					require.NoError(t, err)
					require.Equal(t, group, m.Chat)
				}
				await(c, receipt(sent.ID, types.ReceiptTypeDelivered))
			}
			require.NoError(t, device.AwaitIdle(ctx))
		})
	}
}

// What cannot be decrypted in a group is asked for again, in both directions.
func TestGroupRetries(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	group := ana.Groups().Create(webtest.GroupOptions{Subject: "G", Members: []*webtest.Phone{owner}})
	await[*events.JoinedGroup](c, nil)
	_, err := ana.Send(ctx, webtest.Outgoing{To: group, Message: text("damaged"), Damage: 1})
	require.NoError(t, err)
	await[*events.UndecryptableMessage](c, nil)
	await(c, says("damaged"))

	ana.MakeUndecryptable(1)
	_, err = c.SendMessage(ctx, group, text("again"))
	require.NoError(t, err)
	m, err := ana.AwaitText(ctx, "again")
	require.NoError(t, err)
	require.Equal(t, 1, m.Retries)
}

// A client makes a group and changes all that it can.
func TestGroupAdministration(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana, ben := fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
	shy := fake.AddPhone(&webtest.PhoneOptions{InviteOnly: true})
	c, _ := link(t, fake, owner)
	ctx := within(t)
	group, err := c.CreateGroup(ctx, whatsmeow.ReqCreateGroup{Name: "Team", Participants: []types.JID{ana.LID()}})
	require.NoError(t, err)
	require.Len(t, group.Participants, 2)

	require.NoError(t, c.SetGroupName(ctx, group.JID, "The team"))
	require.Equal(t, "The team", await(c, func(e *events.GroupInfo) bool { return e.Name != nil }).Name.Name)
	require.NoError(t, c.SetGroupDescription(ctx, group.JID, "What we do"))
	await(c, func(e *events.GroupInfo) bool { return e.Topic != nil })
	changed, err := c.UpdateGroupParticipants(ctx, group.JID, []types.JID{ben.LID(), shy.LID(), ana.LID()}, whatsmeow.ParticipantChangeAdd)
	require.NoError(t, err)
	require.Equal(t, []int{0, 403, 409}, []int{changed[0].Error, changed[1].Error, changed[2].Error})
	require.NotEmpty(t, changed[1].AddRequest.Code)
	_, err = c.UpdateGroupParticipants(ctx, group.JID, []types.JID{ana.LID()}, whatsmeow.ParticipantChangePromote)
	require.NoError(t, err)
	require.NoError(t, c.SetGroupAnnounce(ctx, group.JID, true))
	require.NoError(t, c.SetGroupLocked(ctx, group.JID, true))
	link, err := c.GetGroupInviteLink(ctx, group.JID, false)
	require.NoError(t, err)
	info, _ := fake.Group(group.JID)
	require.Equal(t, whatsmeow.InviteLinkPrefix+info.Invite, link)
	require.NoError(t, shy.Groups().Join(info.Invite))
	await(c, func(e *events.GroupInfo) bool { return e.JoinReason == "invite" })
	fetched, err := c.GetGroupInfo(ctx, group.JID)
	require.NoError(t, err)
	require.Equal(t, "The team", fetched.Name)
	require.Equal(t, "What we do", fetched.Topic)
	require.True(t, fetched.IsAnnounce)
	require.True(t, fetched.IsLocked)
	require.Len(t, fetched.Participants, 4)

	_, err = c.UpdateGroupParticipants(ctx, group.JID, []types.JID{ben.LID()}, whatsmeow.ParticipantChangeRemove)
	require.NoError(t, err)
	require.NoError(t, c.LeaveGroup(ctx, group.JID))
	info, ok := fake.Group(group.JID)
	require.True(t, ok)
	require.Equal(t, []types.JID{ana.LID(), shy.LID()}, info.Members)
	require.Equal(t, []types.JID{ana.LID()}, info.Admins)
	_, err = c.GetGroupInfo(ctx, group.JID)
	require.ErrorIs(t, err, whatsmeow.ErrNotInGroup)
	joined, err := c.GetJoinedGroups(ctx)
	require.NoError(t, err)
	require.Empty(t, joined)
}

// Phones change their groups, and the client is told.
func TestGroupOfPhone(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana, ben := fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	group := ana.Groups().Create(webtest.GroupOptions{Subject: "G", Members: []*webtest.Phone{owner}})
	await[*events.JoinedGroup](c, nil)
	require.NoError(t, ana.Groups().Add(group, ben))
	require.Equal(t, []types.JID{ben.LID()}, await(c, func(e *events.GroupInfo) bool { return e.Join != nil }).Join)
	require.NoError(t, ana.Groups().Promote(group, owner))
	await(c, func(e *events.GroupInfo) bool { return e.Promote != nil })
	require.NoError(t, ana.Groups().Rename(group, "H"))
	await(c, func(e *events.GroupInfo) bool { return e.Name != nil && e.Name.Name == "H" })
	require.NoError(t, ben.Groups().Leave(group))
	require.Equal(t, []types.JID{ben.LID()}, await(c, func(e *events.GroupInfo) bool { return e.Leave != nil }).Leave)
	require.NoError(t, ana.Groups().Remove(group, owner))
	await(c, func(e *events.GroupInfo) bool { return e.Leave != nil })
	ctx := within(t)
	info, _ := fake.Group(group)
	seen, err := c.GetGroupInfoFromLink(ctx, whatsmeow.InviteLinkPrefix+info.Invite)
	require.NoError(t, err)
	require.Equal(t, "H", seen.Name)
	joined, err := c.JoinGroupWithLink(ctx, info.Invite)
	require.NoError(t, err)
	require.Equal(t, group, joined)
	require.Equal(t, "invite", await[*events.JoinedGroup](c, nil).Reason)
	_, err = c.GetGroupInfoFromLink(ctx, "nothing")
	require.ErrorIs(t, err, whatsmeow.ErrInviteLinkInvalid)
	require.Error(t, ben.Groups().Rename(group, "I"))
	require.Error(t, ben.Groups().Join("nothing"))
}
