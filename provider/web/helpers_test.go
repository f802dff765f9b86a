package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

func textMessage(words string) *waE2E.Message { return &waE2E.Message{Conversation: &words} }

// says writes a message of a contact to the reference's owner, and returns what the
// reference made of it.
func (f *fixture) says(t testing.TB, who *webtest.Phone, m *waE2E.Message) *provider.Message {
	t.Helper()
	id, err := who.Send(soon(t), webtest.Outgoing{To: f.owner.LID(), Message: m})
	require.NoError(t, err)
	got := f.inbox.message(t, id)
	require.Equal(t, who.LID().User, got.From.LID)
	return got
}

// answers sends content to a contact and returns it as that has it.
func (f *fixture) answers(t testing.TB, to provider.Address, who *webtest.Phone, c provider.Content) *webtest.Message {
	t.Helper()
	id := f.send(t, to, c)
	got, err := who.Await(soon(t), func(m *webtest.Message) bool { return m.ID == id })
	require.NoError(t, err)
	return got
}

// file is a file to send.
func file(kind provider.MediaKind, mime string, data []byte) provider.Media {
	m := provider.Media{Kind: kind, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
	m.MIME, m.Size = mime, int64(len(data))
	return m
}

// fetch downloads a received file and compares it.
func (f *fixture) fetch(t testing.TB, c provider.Content, want []byte) {
	t.Helper()
	got, file, err := f.tryFetch(t, c)
	require.NoError(t, err)
	digest := sha256.Sum256(want)
	require.Equal(t, digest, sha256.Sum256(got))
	require.Equal(t, digest[:], file.SHA256)
	require.EqualValues(t, len(want), file.Size)
}

func (f *fixture) tryFetch(t testing.TB, c provider.Content) ([]byte, provider.File, error) {
	t.Helper()
	require.IsType(t, provider.Media{}, c)
	var got bytes.Buffer
	file, err := f.session.(provider.MediaFetcher).Fetch(soon(t), c.(provider.Media), &got)
	return got.Bytes(), file, err
}

// uploaded is a file that a phone has put on the network, as a message names it.
func uploaded(t testing.TB, p *webtest.Phone, kind provider.MediaKind, data []byte) *waE2E.Message {
	t.Helper()
	media := map[provider.MediaKind]whatsmeow.MediaType{
		provider.Image: whatsmeow.MediaImage, provider.Sticker: whatsmeow.MediaImage, provider.Video: whatsmeow.MediaVideo,
		provider.Audio: whatsmeow.MediaAudio, provider.Document: whatsmeow.MediaDocument,
	}
	up, err := p.Upload(data, media[kind])
	require.NoError(t, err)
	switch kind {
	case provider.Image:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Mimetype: proto.String("image/jpeg"), Caption: proto.String("Look"), Width: proto.Uint32(40), Height: proto.Uint32(30),
			DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		}}
	case provider.Video:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			Mimetype: proto.String("video/mp4"), Seconds: proto.Uint32(7),
			DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		}}
	case provider.Audio:
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			Mimetype: proto.String("audio/ogg; codecs=opus"), Seconds: proto.Uint32(3), PTT: proto.Bool(true), Waveform: []byte{1, 2, 3},
			DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		}}
	case provider.Sticker:
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			Mimetype: proto.String("image/webp"), IsAnimated: proto.Bool(true),
			DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		}}
	}
	return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		Mimetype: proto.String("application/pdf"), FileName: proto.String("bill.pdf"), PageCount: proto.Uint32(2),
		DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
	}}
}
