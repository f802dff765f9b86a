package messaging_test

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// TestGroups makes a group, changes it, writes to it and leaves it.
func TestGroups(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, sandbox.Kind)
		made, err := f.acc.Groups().Create(t.Context(), ref, messaging.NewGroup{Subject: " Friends ", Participants: []string{"Ana", "ben@sandbox"}})
		require.NoError(t, err)
		require.Equal(t, "Friends", made.Subject)
		require.True(t, made.Admin)
		require.NotNil(t, made.InviteLink)
		require.NotNil(t, made.CreatedAt)
		require.Equal(t, []messaging.GroupMember{{ChatID: "ana@sandbox"}, {ChatID: "ben@sandbox"}}, made.Participants)
		c := f.chat(t, ref, made.ChatID)
		require.Equal(t, []string{"group", "Friends"}, []string{c.Kind, c.Name})
		chats, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{})
		require.NoError(t, err)
		require.Len(t, chats.Items, 1, "it is listed at once")
		shown, err := f.acc.Groups().Get(t.Context(), ref, strings.ToUpper(made.ChatID))
		require.NoError(t, err)
		require.Equal(t, made, shown)

		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: made.ChatID, Wait: timeout})
		require.Equal(t, "DELIVERED", sent.Status)
		_, err = sandbox.Phone{Inbox: f.svc, Reference: ref, Name: "ana", Group: made.ChatID}.Write(t.Context(), provider.Text{Text: "hello all"})
		require.NoError(t, err)
		require.Equal(t, "ana::single", f.messages(t, ref, made.ChatID)[0].Participant.RemoteJID)

		edited, err := f.acc.Groups().Edit(t.Context(), ref, made.ChatID, messaging.GroupEdit{
			Subject: ptr("Foes"), Add: []string{"carl"}, Remove: []string{"ben", "dora"}, Promote: []string{"ana"}, ResetInvite: true,
		})
		require.NoError(t, err)
		require.Equal(t, "Foes", edited.Subject)
		require.Equal(t, []messaging.GroupMember{{ChatID: "ana@sandbox", Admin: true}, {ChatID: "carl@sandbox"}}, edited.Participants)
		require.Equal(t, []messaging.GroupRefusal{{ChatID: "dora@sandbox", Error: messaging.Failure{Code: "not_a_participant", Message: "is not in the group"}}}, edited.Refused)
		require.NotEqual(t, made.InviteLink, edited.InviteLink)
		require.Equal(t, "Foes", f.chat(t, ref, made.ChatID).Name)

		left, err := f.acc.Groups().Edit(t.Context(), ref, made.ChatID, messaging.GroupEdit{Demote: []string{"ana"}, Leave: true})
		require.NoError(t, err)
		require.True(t, left.Left)
		require.Nil(t, left.InviteLink)
		require.False(t, left.Participants[0].Admin)
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: made.ChatID, Content: provider.Text{Text: "hi"}, Wait: timeout})
		var refused *messaging.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "not_in_group", refused.ProviderCode)
	})
}

// TestGroupsThatCannotBe says why, and asks the network for nothing.
func TestGroupsThatCannotBe(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref, ben := f.reference(t, sandbox.Kind), []string{"ben"}
		made, err := f.acc.Groups().Create(t.Context(), ref, messaging.NewGroup{Subject: "Friends", Participants: ben})
		require.NoError(t, err)
		create := func(n messaging.NewGroup) error { _, err := f.acc.Groups().Create(t.Context(), ref, n); return err }
		edit := func(id string, e messaging.GroupEdit) error {
			_, err := f.acc.Groups().Edit(t.Context(), ref, id, e)
			return err
		}
		for name, c := range map[string]struct {
			err   error
			field string
		}{
			"no subject":       {create(messaging.NewGroup{Participants: ben}), "subject"},
			"long subject":     {create(messaging.NewGroup{Subject: strings.Repeat("é", 101), Participants: ben}), "subject"},
			"nobody":           {create(messaging.NewGroup{Subject: "Friends"}), "participants"},
			"no name":          {create(messaging.NewGroup{Subject: "Friends", Participants: []string{"ben", "a b"}}), "participants[1]"},
			"a group":          {create(messaging.NewGroup{Subject: "Friends", Participants: []string{made.ChatID}}), "participants[0]"},
			"too many":         {create(messaging.NewGroup{Subject: "Friends", Participants: make([]string, 1025)}), "participants"},
			"a person":         {edit("ben", messaging.GroupEdit{Leave: true}), "chatId"},
			"nothing":          {edit(made.ChatID, messaging.GroupEdit{}), "subject"},
			"an empty subject": {edit(made.ChatID, messaging.GroupEdit{Subject: ptr(" "), Leave: true}), "subject"},
			"a bad promotion":  {edit(made.ChatID, messaging.GroupEdit{Subject: ptr("Foes"), Promote: []string{"a b"}}), "promote[0]"},
		} {
			var bad *messaging.Invalid
			require.ErrorAs(t, c.err, &bad, name)
			require.Equal(t, c.field, bad.Field, name)
		}
		shown, err := f.acc.Groups().Get(t.Context(), ref, made.ChatID)
		require.NoError(t, err)
		require.Equal(t, made, shown, "nothing was done")

		for name, err := range map[string]error{
			"unknown group":   edit("nowhere@g.us", messaging.GroupEdit{Subject: ptr("Foes")}),
			"another account": func() error { _, err := f.svc.For("another").Groups().Get(t.Context(), ref, made.ChatID); return err }(),
			"another reference": func() error {
				_, err := f.acc.Groups().Get(t.Context(), f.reference(t, sandbox.Kind), made.ChatID)
				return err
			}(),
		} {
			require.ErrorIs(t, err, messaging.ErrNotFound, name)
		}
		var refused *messaging.Error
		_, err = f.acc.Groups().Get(t.Context(), f.reference(t, testKind), "1@g.us")
		require.ErrorAs(t, err, &refused)
		require.Equal(t, messaging.CodeUnsupported, refused.Code)
		_, err = f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		require.ErrorAs(t, create(messaging.NewGroup{Subject: "Friends", Participants: ben}), &refused)
		require.Equal(t, messaging.CodeSessionNotConnected, refused.Code)
	})
}
