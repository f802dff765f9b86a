package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestWebReference links a reference to a phone over the API, and follows texts, a group and
// files in both directions. After a restart the reference connects again by itself.
func TestWebReference(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		r := newWebEnv(t)
		n := r.launch(t, database...)
		r.balancer.open(n)
		r.signUp(t)
		l := r.link(t)
		r.ref = l.ref
		r.register(t)
		ana := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})

		r.talk(t, l, ana)
		r.group(t, l, ana)
		r.files(t, l, ana)
		r.damaged(t, l, ana)
		r.hidden(t, l)

		before := r.logins()
		n.terminate(t)
		quiet(t, n)
		id, err := ana.SendText(within(t), l.owner.LID(), "Are you there?")
		require.NoError(t, err)
		n = r.launch(t, database...)
		r.balancer.open(n)
		r.back(t, before, time.Now())
		require.NoError(t, l.device.AwaitAck(within(t), id))
		r.recorded(t, number(ana), id)
		r.connected(t, l)
		r.sink.sound(t)
		r.sound(t)

		session := r.call(t, 200, "POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, l.ref))
		require.Equal(t, "LOGGED_OUT", session["state"])
		require.NoError(t, l.device.AwaitRemoved(within(t)))
		n.terminate(t)
	})
}

// recorded waits for the webhook of a message, and returns its body.
func (r *webEnv) recorded(t *testing.T, contact, id string) map[string]any {
	t.Helper()
	return r.recordsOf(t, func() []delivery { return r.sink.about(contact) }, id)
}

// recordsOf waits for the webhook of a message among deliveries.
func (r *webEnv) recordsOf(t *testing.T, among func() []delivery, id string) map[string]any {
	t.Helper()
	var got []delivery
	r.sink.until(t, func() bool {
		got = slices.DeleteFunc(among(), func(d delivery) bool { return d.event != "message" || d.id != id })
		return len(got) > 0
	}, "a webhook about the message %s", id)
	body := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(got[0].body), &body))
	return body
}

// answer sends a message through the API, which the network takes.
func (r *webEnv) answer(t *testing.T, chat, message string) string {
	t.Helper()
	sent := r.call(t, 200, "POST", "/chats/send?wait=30", fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":%s}`, r.ref, chat, message))
	shown := sent["message"].(map[string]any)
	require.Contains(t, []any{"SENDING", "DELIVERED"}, shown["status"], shown)
	return shown["id"].(string)
}

// talk lets a contact write and be answered.
func (r *webEnv) talk(t *testing.T, l *webReference, ana *webtest.Phone) {
	t.Helper()
	id, err := ana.SendText(within(t), l.owner.LID(), "Hello «you»")
	require.NoError(t, err)
	body := r.recorded(t, number(ana), id)
	require.Equal(t, "Hello «you»", body["text"])
	require.Equal(t, "Ana", body["pushName"])
	require.NoError(t, l.device.AwaitAck(within(t), id))
	sent := r.answer(t, number(ana), `{"type":"text","text":"Hello Ana"}`)
	got, err := ana.AwaitText(within(t), "Hello Ana")
	require.NoError(t, err)
	require.Equal(t, sent, got.ID)
	ana.Read(l.owner.LID(), l.owner.LID(), sent)
	r.sink.until(t, func() bool {
		return slices.ContainsFunc(r.sink.about(number(ana)), func(d delivery) bool { return d.id == sent && d.status == "READ" })
	}, "it was read")
}

// damaged lets a contact write what cannot be read at first.
func (r *webEnv) damaged(t *testing.T, l *webReference, ana *webtest.Phone) {
	t.Helper()
	words := "say again"
	id, err := ana.Send(within(t), webtest.Outgoing{To: l.owner.LID(), Message: &waE2E.Message{Conversation: &words}, Damage: 1})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.historyOf(t, l.ref, number(ana)), func(m record) bool { return m.ID == id && m.Text == words })
	}, webTimeout, 10*time.Millisecond, "it was asked for again")
}

// quiet fails the test if anything but the server's own logger has written:
// libsignal prints unless it is configured not to.
func quiet(t *testing.T, n *node) {
	t.Helper()
	for reference := range strings.Lines(n.stderr.String()) {
		require.True(t, strings.HasPrefix(reference, "time="), reference)
	}
	require.Empty(t, n.rest)
}

// group lets a contact write in a group and be answered there.
func (r *webEnv) group(t *testing.T, l *webReference, ana *webtest.Phone) {
	t.Helper()
	chat := ana.Groups().Create(webtest.GroupOptions{Subject: "Friends", Members: []*webtest.Phone{l.owner}})
	id, err := ana.SendText(within(t), chat, "Hello all")
	require.NoError(t, err)
	var recorded []delivery
	r.sink.until(t, func() bool {
		recorded = slices.DeleteFunc(r.sink.received(), func(d delivery) bool { return d.id != id })
		return len(recorded) > 0
	}, "the group's message")
	require.Equal(t, "Hello all", recorded[0].text)
	r.answer(t, chat.String(), `{"type":"text","text":"Hello Ana and all"}`)
	got, err := ana.AwaitText(within(t), "Hello Ana and all")
	require.NoError(t, err)
	require.Equal(t, chat, got.Chat)
	shown := r.call(t, 200, "GET", fmt.Sprintf("/chats/group?reference=%d&chatId=%s", l.ref, chat), "")
	require.Equal(t, "Friends", shown["subject"])
}

// files lets a contact send a picture and get one.
func (r *webEnv) files(t *testing.T, l *webReference, ana *webtest.Phone) {
	t.Helper()
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64))))
	up, err := ana.Upload(picture.Bytes(), whatsmeow.MediaImage)
	require.NoError(t, err)
	id, err := ana.Send(within(t), webtest.Outgoing{To: l.owner.LID(), Message: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
		Mimetype: proto.String("image/png"), URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
		FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
	}}})
	require.NoError(t, err)
	body := r.recorded(t, number(ana), id)
	require.Equal(t, "image", body["type"])
	require.Equal(t, picture.Bytes(), r.download(t, body["fileUrl"].(string)))

	stored := r.upload(t, picture.Bytes(), "picture.png")
	sent := r.answer(t, number(ana), fmt.Sprintf(`{"type":"image","mediaId":%q,"caption":"Look"}`, stored["mediaId"]))
	got, err := ana.Await(within(t), func(m *webtest.Message) bool { return m.ID == sent })
	require.NoError(t, err)
	file, err := ana.Download(got.Content.GetImageMessage())
	require.NoError(t, err)
	require.Equal(t, picture.Bytes(), file)
	_, err = ana.AwaitReceipt(within(t), id, types.ReceiptTypeDelivered)
	require.NoError(t, err)
}

func (r *webEnv) download(t *testing.T, link string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, balancerURL+"/"+link, nil)
	require.NoError(t, err)
	res, err := r.http.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return body
}
