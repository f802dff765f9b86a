package web_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

var mediaKinds = map[provider.MediaKind]string{
	provider.Image: "image/jpeg", provider.Video: "video/mp4", provider.Audio: "audio/ogg; codecs=opus",
	provider.Document: "application/pdf", provider.Sticker: "image/webp",
}

// TestFiles go both ways, with every byte, and with what is said about them.
func TestFiles(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		data := bytes.Repeat([]byte("0123456789abcdef"), 20_001)
		for kind, mime := range mediaKinds {
			m := f.says(t, ana, uploaded(t, ana, kind, data))
			got := m.Content.(provider.Media)
			require.Equal(t, kind, got.Kind)
			require.Equal(t, mime, got.MIME)
			require.EqualValues(t, len(data), got.Size)
			f.fetch(t, got, data)

			out := file(kind, mime, data)
			out.FileName, out.Voice, out.Caption = "bill.pdf", kind == provider.Audio, "Here"
			sent := f.answers(t, m.Chat, ana, out)
			var at whatsmeow.DownloadableMessage
			switch x := sent.Content; kind {
			case provider.Image:
				at = x.GetImageMessage()
				require.Equal(t, "Here", x.GetImageMessage().GetCaption())
			case provider.Video:
				at = x.GetVideoMessage()
			case provider.Audio:
				at = x.GetAudioMessage()
				require.True(t, x.GetAudioMessage().GetPTT())
			case provider.Document:
				at = x.GetDocumentMessage()
				require.Equal(t, "bill.pdf", x.GetDocumentMessage().GetFileName())
			case provider.Sticker:
				at = x.GetStickerMessage()
			}
			back, err := ana.Download(at)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, back), kind)
		}
		voice := f.says(t, ana, uploaded(t, ana, provider.Audio, data)).Content.(provider.Media)
		require.True(t, voice.Voice)
		require.Equal(t, []byte{1, 2, 3}, voice.Waveform)
		require.Equal(t, 3, voice.Seconds)
	})
}

// TestExpiredFile is asked of the phone, which puts it on the network again; in
// a group, too. What the phone does not have is gone for good.
func TestExpiredFile(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		g := ana.Groups().Create(webtest.GroupOptions{Subject: "Trip", Members: []*webtest.Phone{f.owner}})
		for status, to := range map[int]string{http.StatusNotFound: "person", http.StatusGone: "group"} {
			out := webtest.Outgoing{To: f.owner.LID(), Message: uploaded(t, ana, provider.Image, []byte("an old picture for a "+to))}
			if to == "group" {
				out.To = g
			}
			id, err := ana.Send(soon(t), out)
			require.NoError(t, err)
			m := f.inbox.message(t, id)
			_, err = f.owner.Await(soon(t), func(m *webtest.Message) bool { return m.ID == id })
			require.NoError(t, err)
			fake.Media().Expire(out.Message.GetImageMessage().GetDirectPath(), status)
			f.fetch(t, m.Content, []byte("an old picture for a "+to))
		}
	})
}

// TestLostFile is one that neither the network nor the phone has.
func TestLostFile(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		msg := uploaded(t, ana, provider.Image, []byte("a picture"))
		m := f.says(t, ana, msg)
		fake.Media().Expire(msg.GetImageMessage().GetDirectPath(), http.StatusGone)
		lost := m.Content.(provider.Media)
		lost.ID = strings.Replace(lost.ID, m.ID, "OTHER", 1) // of a message that the phone does not have
		_, _, err := f.tryFetch(t, lost)
		var gone *provider.Rejected
		require.ErrorAs(t, err, &gone)

		_, _, err = f.tryFetch(t, provider.Media{Kind: provider.Image, ID: "{"})
		require.ErrorAs(t, err, &gone, "a handle that is none")
	})
}
