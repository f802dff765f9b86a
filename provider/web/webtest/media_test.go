package webtest_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

func image(up whatsmeow.UploadResponse) *waE2E.Message {
	return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
		Mimetype: proto.String("image/jpeg"), URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
		FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
	}}
}

func hasImage(m *events.Message) bool { return m.Message.GetImageMessage() != nil }

func TestMedia(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	data := bytes.Repeat([]byte("picture "), 20_000)

	up, err := c.Upload(ctx, data, whatsmeow.MediaImage)
	require.NoError(t, err)
	_, err = c.SendMessage(ctx, ana.LID(), image(up))
	require.NoError(t, err)
	m, err := ana.Await(ctx, nil)
	require.NoError(t, err)
	got, err := ana.Download(m.Content.GetImageMessage())
	require.NoError(t, err)
	require.Equal(t, data, got)

	sent, err := ana.Upload(data, whatsmeow.MediaImage)
	require.NoError(t, err)
	_, err = ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: image(sent)})
	require.NoError(t, err)
	event := await(c, hasImage)
	require.Equal(t, "image", event.Info.MediaType)
	got, err = c.Download(ctx, event.Message.GetImageMessage())
	require.NoError(t, err)
	require.Equal(t, data, got)
	fake.Media().Fail(http.StatusNotFound, http.StatusNotFound)
	_, err = c.Download(ctx, event.Message.GetImageMessage())
	require.ErrorIs(t, err, whatsmeow.ErrMediaDownloadFailedWith404)
}

// An expired file is asked for, and the own phone uploads it again, if it has
// it.
func TestMediaRetry(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, _ := link(t, fake, owner)
	ctx := within(t)
	up, err := ana.Upload([]byte("old picture"), whatsmeow.MediaImage)
	require.NoError(t, err)
	id, err := ana.Send(ctx, webtest.Outgoing{To: owner.LID(), Message: image(up)})
	require.NoError(t, err)
	event := await(c, hasImage)
	_, err = owner.Await(ctx, func(m *webtest.Message) bool { return m.ID == id })
	require.NoError(t, err)
	fake.Media().Expire(up.DirectPath, http.StatusGone)
	picture := event.Message.GetImageMessage()
	_, err = c.Download(ctx, picture)
	require.ErrorIs(t, err, whatsmeow.ErrMediaDownloadFailedWith410)

	require.NoError(t, c.SendMediaRetryReceipt(ctx, &event.Info, picture.GetMediaKey()))
	retry := await[*events.MediaRetry](c, nil)
	answer, err := whatsmeow.DecryptMediaRetryNotification(retry, picture.GetMediaKey())
	require.NoError(t, err)
	require.Equal(t, waMmsRetry.MediaRetryNotification_SUCCESS, answer.GetResult())
	picture.DirectPath = answer.DirectPath
	got, err := c.Download(ctx, picture)
	require.NoError(t, err)
	require.Equal(t, "old picture", string(got))

	event.Info.ID = "unknown"
	require.NoError(t, c.SendMediaRetryReceipt(ctx, &event.Info, picture.GetMediaKey()))
	_, err = whatsmeow.DecryptMediaRetryNotification(await[*events.MediaRetry](c, nil), picture.GetMediaKey())
	require.ErrorIs(t, err, whatsmeow.ErrMediaNotAvailableOnPhone)
}

// history is one message of ana's, and how her addresses belong together.
func history(owner, ana *webtest.Phone) *waHistorySync.HistorySync {
	return &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_RECENT.Enum(),
		Conversations: []*waHistorySync.Conversation{{
			ID: proto.String(ana.LID().String()),
			Messages: []*waHistorySync.HistorySyncMsg{{Message: &waWeb.WebMessageInfo{
				Key:              &waCommon.MessageKey{RemoteJID: proto.String(ana.LID().String()), FromMe: proto.Bool(false), ID: proto.String("OLD1")},
				Message:          text("long ago by " + owner.JID().User),
				MessageTimestamp: proto.Uint64(1700000000),
			}}},
		}},
		PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{{
			PnJID: proto.String(ana.JID().String()), LidJID: proto.String(ana.LID().String()),
		}},
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	for _, inline := range []bool{true, false} {
		id, err := owner.SendHistory(ctx, device, history(owner, ana), inline)
		require.NoError(t, err)
		got := await[*events.HistorySync](c, nil)
		require.Equal(t, "OLD1", got.Data.GetConversations()[0].GetMessages()[0].GetMessage().GetKey().GetID())
		_, err = owner.AwaitReceipt(ctx, id, types.ReceiptTypeHistorySync)
		require.NoError(t, err)
	}
}

// The phone's settings reach the client, and the client's the phone's others.
func TestAppState(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	_, err := owner.ShareMappings(ctx, device, ana)
	require.NoError(t, err)
	require.NoError(t, owner.SetState(ctx, appstate.BuildSettingPushName("Shop"))) // the client asks for the key
	for range appstate.AllPatchNames {
		await[*events.AppStateSyncComplete](c, nil)
	}
	require.Equal(t, "Shop", c.Store.PushName)
	require.NoError(t, owner.SetState(ctx, appstate.BuildSettingPushName("New shop")))
	changed := await[*events.PushNameSetting](c, nil)
	require.Equal(t, "New shop", changed.Action.GetName())
	require.NoError(t, c.SendPresence(ctx, types.PresenceAvailable))
	require.NoError(t, device.AwaitOnline(ctx))

	require.NoError(t, c.SendAppState(ctx, appstate.BuildMute(ana.JID(), true, 0))) // the first is told as a whole
	require.NoError(t, c.SendAppState(ctx, appstate.BuildMute(ana.JID(), false, 0)))
	muted := await[*events.Mute](c, nil)
	require.Equal(t, ana.JID(), muted.JID)
	require.False(t, muted.Action.GetMuted())
}
