package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// toGroup sends to a group, which it creates if the provider can.
func (f *fixture) toGroup(t *testing.T, out provider.Outbound) {
	t.Helper()
	session := f.open(t)
	if m, ok := session.(provider.GroupManager); ok {
		g, err := m.CreateGroup(t.Context(), "Friends", []provider.Address{f.to})
		require.NoError(t, err)
		out.To = g.Chat
	}
	receipt, err := session.Send(t.Context(), out)
	require.NoError(t, err)
	require.NotEmpty(t, receipt.MessageID)
}

// groupManager: a group is as it was created and changed, until the account
// leaves.
func groupManager(t *testing.T, f *fixture) {
	session := f.open(t)
	m, ok := session.(provider.GroupManager)
	if !ok {
		return
	}
	require.True(t, f.Provider.Capabilities().Groups)
	made, err := m.CreateGroup(t.Context(), "Friends", []provider.Address{f.to})
	require.NoError(t, err)
	require.True(t, made.Chat.Group)
	require.True(t, made.Admin, "who makes a group may change it")
	require.Empty(t, made.Refused)
	again, err := f.Provider.Address(made.Chat.ChatID)
	require.NoError(t, err)
	require.Equal(t, made.Chat, again, "the id is one that a send takes")
	f.has(t, m, made.Chat, "Friends", map[string]bool{f.to.ChatID: false})

	change := func(what provider.ParticipantChange) {
		refused, err := m.ChangeParticipants(t.Context(), made.Chat, what, []provider.Address{f.to})
		require.NoError(t, err, what)
		require.Empty(t, refused, what)
	}
	change(provider.ParticipantPromote)
	f.has(t, m, made.Chat, "Friends", map[string]bool{f.to.ChatID: true})
	change(provider.ParticipantDemote)
	require.NoError(t, m.SetGroupSubject(t.Context(), made.Chat, "Foes"))
	f.has(t, m, made.Chat, "Foes", map[string]bool{f.to.ChatID: false})
	change(provider.ParticipantRemove)
	f.has(t, m, made.Chat, "Foes", map[string]bool{})
	change(provider.ParticipantAdd)
	change(provider.ParticipantAdd) // a member who is already in the group stays
	f.has(t, m, made.Chat, "Foes", map[string]bool{f.to.ChatID: false})

	f.invites(t, m, made.Chat)
	require.NoError(t, m.LeaveGroup(t.Context(), made.Chat))
	_, err = m.CreateGroup(t.Context(), "Friends", []provider.Address{f.to})
	require.NoError(t, err, "another of the same name")
	f.unknownGroup(t, m)
}

// has checks a group's subject, its members and its administrators.
func (f *fixture) has(t *testing.T, m provider.GroupManager, chat provider.Address, subject string, admins map[string]bool) {
	t.Helper()
	g, err := m.Group(t.Context(), chat)
	require.NoError(t, err)
	require.Equal(t, chat, g.Chat)
	require.Equal(t, subject, g.Subject)
	in := map[string]bool{}
	for _, p := range g.Participants {
		in[p.ChatID] = p.Admin
	}
	require.Equal(t, admins, in)
	for i := range g.Participants {
		g.Participants[i].Admin = !g.Participants[i].Admin // the caller may change the result
	}
}

func (f *fixture) invites(t *testing.T, m provider.GroupManager, chat provider.Address) {
	t.Helper()
	link, err := m.GroupInvite(t.Context(), chat, false)
	require.NoError(t, err)
	require.Regexp(t, `^https://.+`, link)
	same, err := m.GroupInvite(t.Context(), chat, false)
	require.NoError(t, err)
	require.Equal(t, link, same)
	other, err := m.GroupInvite(t.Context(), chat, true)
	require.NoError(t, err)
	require.NotEqual(t, link, other)
}

// unknownGroup: every call refuses a group that does not exist.
func (f *fixture) unknownGroup(t *testing.T, m provider.GroupManager) {
	t.Helper()
	nowhere := provider.Address{ChatID: "120363000000000000@g.us", Group: true}
	_, shown := m.Group(t.Context(), nowhere)
	_, changed := m.ChangeParticipants(t.Context(), nowhere, provider.ParticipantAdd, []provider.Address{f.to})
	_, invited := m.GroupInvite(t.Context(), nowhere, false)
	for name, err := range map[string]error{
		"Group": shown, "ChangeParticipants": changed, "GroupInvite": invited,
		"SetGroupSubject": m.SetGroupSubject(t.Context(), nowhere, "Foes"), "LeaveGroup": m.LeaveGroup(t.Context(), nowhere),
	} {
		var unknown *provider.BadRecipient
		require.ErrorAs(t, err, &unknown, name)
	}
}

// numberChecker: a contact who can be written to has an account.
func numberChecker(t *testing.T, f *fixture) {
	c, ok := f.open(t).(provider.NumberChecker)
	if !ok {
		return
	}
	answer, err := c.CheckNumber(t.Context(), f.to)
	require.NoError(t, err)
	require.NotNil(t, answer.Exists)
	require.True(t, *answer.Exists)
}
