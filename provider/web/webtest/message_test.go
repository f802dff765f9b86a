package webtest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

func text(s string) *waE2E.Message { return &waE2E.Message{Conversation: &s} }

// A contact writes, the client answers, and each side learns what became of
// its message.
func TestMessages(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
	c, device := link(t, fake, owner)
	ctx := within(t)

	id, err := ana.SendText(ctx, owner.LID(), "hello")
	require.NoError(t, err)
	got := await(c, says("hello"))
	require.Equal(t, id, got.Info.ID)
	require.Equal(t, ana.LID(), got.Info.Chat)
	require.Equal(t, ana.JID(), got.Info.SenderAlt)
	require.Equal(t, "Ana", got.Info.PushName)
	require.NoError(t, device.AwaitAck(ctx, id))
	_, err = ana.AwaitReceipt(ctx, id, types.ReceiptTypeDelivered)
	require.NoError(t, err)
	require.NoError(t, c.MarkRead(ctx, []string{id}, time.Now(), got.Info.Chat, got.Info.Sender))
	_, err = ana.AwaitReceipt(ctx, id, types.ReceiptTypeRead)
	require.NoError(t, err)
	_, err = owner.AwaitReceipt(ctx, id, types.ReceiptTypeRead) // the phone shows it read, too
	require.NoError(t, err)

	sent, err := c.SendMessage(ctx, ana.JID(), text("and you?"))
	require.NoError(t, err)
	answer, err := ana.Await(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, "and you?", answer.Text())
	require.Equal(t, sent.ID, answer.ID)
	require.Equal(t, device.LID(), answer.From)
	await(c, receipt(sent.ID, types.ReceiptTypeDelivered))
	ana.Read(answer.Chat, answer.From, answer.ID)
	await(c, receipt(sent.ID, types.ReceiptTypeRead))
	copied, err := owner.AwaitText(ctx, "and you?") // the owner's phone has it as sent
	require.NoError(t, err)
	require.True(t, copied.FromMe)
	require.Equal(t, ana.LID(), copied.Chat)
	require.NoError(t, device.AwaitIdle(ctx))
}

// What the owner writes on the phone, and reads there, reaches the client.
func TestOwnPhone(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	id, err := owner.SendText(ctx, ana.LID(), "from the phone")
	require.NoError(t, err)
	got := await(c, says("from the phone"))
	require.True(t, got.Info.IsFromMe)
	require.Equal(t, ana.LID(), got.Info.Chat)
	require.Equal(t, ana.JID(), got.Info.RecipientAlt)
	_, err = ana.AwaitText(ctx, "from the phone")
	require.NoError(t, err)
	await(c, receipt(id, types.ReceiptTypeDelivered))

	id, err = ana.SendText(ctx, owner.LID(), "read this")
	require.NoError(t, err)
	await(c, says("read this"))
	owner.Read(ana.LID(), ana.LID(), id)
	own := await(c, receipt(id, types.ReceiptTypeRead))
	require.True(t, own.IsFromMe)
	require.Equal(t, ana.LID(), own.Chat)
}

// Addresses come in every form that the network has.
func TestAddresses(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner := fake.AddPhone(nil)
	open, hidden := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Hidden: true})
	c, device := link(t, fake, owner)
	ctx := within(t)

	_, err := open.SendText(ctx, owner.JID(), "by number")
	require.NoError(t, err)
	got := await(c, says("by number"))
	require.Equal(t, open.JID(), got.Info.Chat)
	require.Equal(t, open.LID(), got.Info.SenderAlt)

	_, err = hidden.SendText(ctx, owner.LID(), "who am I?")
	require.NoError(t, err)
	got = await(c, says("who am I?"))
	require.Equal(t, hidden.LID(), got.Info.Chat)
	require.True(t, got.Info.SenderAlt.IsEmpty())
	hidden.Reveal()
	_, err = hidden.SendText(ctx, owner.LID(), "me")
	require.NoError(t, err)
	require.Equal(t, hidden.JID(), await(c, says("me")).Info.SenderAlt)

	third := fake.AddPhone(nil)
	id, err := owner.ShareMappings(ctx, device, third)
	require.NoError(t, err)
	require.NoError(t, device.AwaitAck(ctx, id))
	lid, err := c.Store.LIDs.GetLIDForPN(ctx, third.JID())
	require.NoError(t, err)
	require.Equal(t, third.LID(), lid)
	there, err := c.IsOnWhatsApp(ctx, []string{"+" + third.JID().User, "+4990000000000"})
	require.NoError(t, err)
	require.Len(t, there, 2)
	require.True(t, there[0].IsIn)
	require.Equal(t, third.LID(), there[0].JID)
	require.False(t, there[1].IsIn)
}

// What a client has not acknowledged waits for it, and comes in order.
func TestOfflineQueue(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	c.Disconnect()
	require.NoError(t, device.AwaitGone(ctx))
	for i := range 5 {
		_, err := ana.SendText(ctx, owner.LID(), strconv.Itoa(i))
		require.NoError(t, err)
	}
	require.Equal(t, 5, device.Pending())
	require.NoError(t, c.Connect())
	require.Equal(t, 5, await[*events.OfflineSyncPreview](c, nil).Messages)
	for i := range 5 {
		require.Equal(t, strconv.Itoa(i), await[*events.Message](c, nil).Message.GetConversation())
	}
	await(c, func(e *events.OfflineSyncCompleted) bool { return e.Count == 5 })
	require.NoError(t, device.AwaitIdle(ctx))
}

// A message whose handler fails is not acknowledged, and comes again.
func TestUnacknowledged(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	c.refuse(true)
	id, err := ana.SendText(ctx, owner.LID(), "keep me")
	require.NoError(t, err)
	after, err := owner.SendHistory(ctx, device, history(owner, ana), true)
	require.NoError(t, err)
	_, err = owner.AwaitReceipt(ctx, after, types.ReceiptTypeHistorySync) // so it has handled what came before
	require.NoError(t, err)
	require.False(t, device.Acked(id))
	c.refuse(false)
	device.Drop()
	await(c, says("keep me"))
	require.NoError(t, device.AwaitAck(ctx, id))
}

// What cannot be decrypted is asked for again, in both directions.
func TestRetries(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	id, err := ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: text("damaged twice"), Damage: 2})
	require.NoError(t, err)
	await[*events.UndecryptableMessage](c, nil)
	got := await(c, says("damaged twice"))
	require.Equal(t, id, got.Info.ID)
	require.NoError(t, device.AwaitAck(ctx, id))

	ana.MakeUndecryptable(2)
	sent, err := c.SendMessage(ctx, ana.LID(), text("say again"))
	require.NoError(t, err)
	m, err := ana.AwaitText(ctx, "say again")
	require.NoError(t, err)
	require.Equal(t, sent.ID, m.ID)
	require.Equal(t, 2, m.Retries)
	require.Equal(t, 1, device.Sent(sent.ID))
}

// The own phone gives what could not be decrypted, if it was told to, beside
// the sender: the client has it twice.
func TestPhoneResends(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(&webtest.PhoneOptions{Resends: true}), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	_, err := owner.ShareMappings(ctx, device, ana)
	require.NoError(t, err)
	id, err := ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: text("twice"), Damage: 1})
	require.NoError(t, err)
	await[*events.UndecryptableMessage](c, nil)
	for _, byPhone := range []bool{true, false} {
		got := await(c, func(m *events.Message) bool {
			return m.Message.GetConversation() == "twice" && (m.UnavailableRequestID != "") == byPhone
		})
		require.Equal(t, id, got.Info.ID)
		require.Equal(t, ana.LID(), got.Info.Chat)
	}
}

// Reactions, edits and deletions arrive as what they are.
func TestChanges(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	id, err := ana.SendText(ctx, owner.LID(), "original")
	require.NoError(t, err)
	await(c, says("original"))
	_, err = c.SendMessage(ctx, ana.LID(), c.BuildReaction(ana.LID(), ana.LID(), id, "👍"))
	require.NoError(t, err)
	m, err := ana.Await(ctx, func(m *webtest.Message) bool { return m.Content.GetReactionMessage() != nil })
	require.NoError(t, err)
	require.Equal(t, id, m.Content.GetReactionMessage().GetKey().GetID())
	_, err = ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: c.BuildEdit(owner.LID(), id, text("edited"))})
	require.NoError(t, err)
	edit := await(c, func(m *events.Message) bool { return m.IsEdit })
	require.Equal(t, types.EditAttributeMessageEdit, edit.Info.Edit)
	_, err = ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: c.BuildRevoke(owner.LID(), types.EmptyJID, id)})
	require.NoError(t, err)
	revoke := await(c, func(m *events.Message) bool { return m.Message.GetProtocolMessage() != nil })
	require.Equal(t, types.EditAttributeSenderRevoke, revoke.Info.Edit)
}

// A device that is linked later gets what is sent from then on, by a client
// that knew only the phone.
func TestSecondDevice(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, other := fake.AddPhone(nil), fake.AddPhone(nil)
	a, device := link(t, fake, owner)
	ctx := within(t)
	_, err := a.SendMessage(ctx, other.LID(), text("to the phone"))
	require.NoError(t, err)
	b, _ := link(t, fake, other)
	require.NoError(t, device.AwaitIdle(ctx)) // it was told
	_, err = a.SendMessage(ctx, other.LID(), text("to both"), whatsmeow.SendRequestExtra{ID: "3EB0TEST"})
	require.NoError(t, err)
	require.Equal(t, "3EB0TEST", await(b, says("to both")).Info.ID)
	_, err = other.AwaitText(ctx, "to both")
	require.NoError(t, err)
}
