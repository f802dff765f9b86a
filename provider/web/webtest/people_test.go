package webtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

func TestTypingAndPresence(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	ana.Type(owner.LID(), true)
	require.Equal(t, types.ChatPresenceComposing, await[*events.ChatPresence](c, nil).State)
	ana.Type(owner.LID(), false)
	require.Equal(t, ana.LID(), await(c, func(e *events.ChatPresence) bool { return e.State == types.ChatPresencePaused }).Chat)
	require.NoError(t, c.SendChatPresence(ctx, ana.LID(), types.ChatPresenceComposing, types.ChatPresenceMediaAudio))
	typing, err := ana.AwaitTyping(ctx, true)
	require.NoError(t, err)
	require.True(t, typing.Voice)
	require.Equal(t, owner.LID(), typing.Chat)

	require.NoError(t, c.SubscribePresence(ctx, ana.LID()))
	require.True(t, await[*events.Presence](c, nil).Unavailable)
	ana.SetShown(true)
	require.False(t, await[*events.Presence](c, nil).Unavailable)
	c.Store.PushName = "Shop"
	require.NoError(t, c.SendPresence(ctx, types.PresenceAvailable))
	require.NoError(t, device.AwaitOnline(ctx))
}

func TestCalls(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	call := ana.Calls().Ring(owner.LID(), true)
	offer := await[*events.CallOffer](c, nil)
	require.Equal(t, call.ID, offer.CallID)
	require.Equal(t, ana.LID(), offer.From)
	require.Equal(t, ana.JID(), offer.CallCreatorAlt)
	require.Equal(t, "video", offer.Data.GetChildren()[0].Tag)
	require.NoError(t, c.RejectCall(ctx, offer.From, offer.CallID))
	require.NoError(t, ana.Calls().AwaitReject(ctx, call))
	missed := ana.Calls().Ring(owner.LID(), false)
	ana.Calls().HangUp(missed, "timeout")
	end := await[*events.CallTerminate](c, nil)
	require.Equal(t, missed.ID, end.CallID)
	require.Equal(t, "timeout", end.Reason)
	require.NoError(t, device.AwaitIdle(ctx))
}

// A phone that is away gets its messages when it is back, and says so then.
func TestPhoneAway(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Offline: true})
	c, _ := link(t, fake, owner)
	sent, err := c.SendMessage(within(t), ana.LID(), text("later"))
	require.NoError(t, err)
	require.Empty(t, ana.Messages())
	ana.SetOnline(true)
	await(c, receipt(sent.ID, types.ReceiptTypeDelivered))
	require.Len(t, ana.Messages(), 1)
}

func TestReadReceiptsOff(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(&webtest.PhoneOptions{NoReadReceipts: true}), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	id, err := ana.SendText(ctx, owner.LID(), "read me")
	require.NoError(t, err)
	got := await(c, says("read me"))
	require.NoError(t, c.MarkRead(ctx, []string{id}, got.Info.Timestamp, got.Info.Chat, got.Info.Sender))
	_, err = owner.AwaitReceipt(ctx, id, types.ReceiptTypeReadSelf)
	require.NoError(t, err)
	owner.Read(ana.LID(), ana.LID(), id)
	require.True(t, await(c, receipt(id, types.ReceiptTypeReadSelf)).IsFromMe)
	for _, r := range ana.Receipts() {
		require.NotContains(t, r.Type, "read")
	}
}

func TestPollVotes(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	_, err := c.SendMessage(ctx, ana.LID(), c.BuildPollCreation("Lunch?", []string{"soup", "salad"}, 1))
	require.NoError(t, err)
	poll, err := ana.Await(ctx, nil)
	require.NoError(t, err)
	_, err = ana.Polls().Vote(ctx, poll, "salad")
	require.NoError(t, err)
	event := await(c, func(m *events.Message) bool { return m.Message.GetPollUpdateMessage() != nil })
	vote, err := c.DecryptPollVote(ctx, event)
	require.NoError(t, err)
	require.Equal(t, whatsmeow.HashPollOptions([]string{"salad"}), vote.GetSelectedOptions())
	_, err = ana.Polls().Vote(ctx, &webtest.Message{Content: text("no poll")}, "salad")
	require.Error(t, err)
}

// A contact with a new phone has new keys and continues writing.
func TestReinstall(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
	c, _ := link(t, fake, owner)
	ctx := within(t)
	_, err := c.SendMessage(ctx, ana.LID(), text("old phone"))
	require.NoError(t, err)
	_, err = ana.SendText(ctx, owner.LID(), "mine too")
	require.NoError(t, err)
	await(c, says("mine too"))
	ana.Reinstall()
	ana.SetName("Ana B.")
	require.Equal(t, ana.JID(), await[*events.IdentityChange](c, nil).JID)
	_, err = ana.SendText(ctx, owner.LID(), "new phone")
	require.NoError(t, err)
	require.Equal(t, "Ana B.", await(c, says("new phone")).Info.PushName)
	_, err = c.SendMessage(ctx, ana.LID(), text("welcome back"))
	require.NoError(t, err)
	_, err = ana.AwaitText(ctx, "welcome back")
	require.NoError(t, err)
}
