package messaging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

func (d *depot) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		Send: []string{"text", "image", "audio", "document", "sticker"}, Receipts: true,
		Media: map[string]int64{"image": 1 << 10, "audio": 1 << 20, "document": 1 << 20, "sticker": 1 << 10},
	}
}

// UploadMedia takes files that are sent.
func (s *depotSession) UploadMedia(ctx context.Context, m provider.Media) (string, time.Time, error) {
	from, err := m.Open(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	defer from.Close()
	body, err := io.ReadAll(from)
	if err != nil {
		return "", time.Time{}, err
	}
	s.depot.mu.Lock()
	defer s.depot.mu.Unlock()
	s.depot.taken = append(s.depot.taken, body)
	return fmt.Sprintf("upload.%d", len(s.depot.taken)), s.depot.until, nil
}

// keep keeps a file for sending.
func (f *mediaFixture) keep(t testing.TB, ref provider.ReferenceID, name, kind string, body []byte) messaging.Media {
	t.Helper()
	m, err := f.acc.SaveMedia(t.Context(), ref, messaging.NewMedia{Name: name, Type: kind, Body: bytes.NewReader(body)})
	require.NoError(t, err)
	return m
}

// sendFile is a send of a file of the store.
func sendFile(ref provider.ReferenceID, kind provider.MediaKind, id string) messaging.SendRequest {
	req := say(ref, "")
	req.Content = provider.Media{Kind: kind, StoredID: id}
	return req
}

// opus is the beginning of an Ogg stream of Opus.
func opus(channels byte) []byte {
	head := append([]byte("OpusHead\x01"), channels, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0)
	page := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	return append(append(page, 1, byte(len(head))), head...)
}

func TestAFileIsUploadedOnce(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		f.depot.until = f.clock.Now().Add(30 * 24 * time.Hour)
		ref := f.reference(t, filesKind)
		body := picture(t, 8, 6)
		kept := f.keep(t, ref, "cat.png", "image/png", body)
		for range 2 {
			m := f.send(t, sendFile(ref, provider.Image, kept.ID))
			require.Equal(t, "SENDING", m.Status)
			require.Equal(t, messaging.TypeImage, m.Type)
			require.Equal(t, kept.FileURL, m.FileURL)
			require.EqualValues(t, 8, m.Width)
			require.Equal(t, "image/png", m.MimeType)
		}
		require.Equal(t, [][]byte{body}, f.depot.taken, "the network keeps it")
		for _, out := range f.depot.net.attempts() {
			require.Equal(t, "upload.1", out.Content.(provider.Media).ID)
		}
		// The network has lost it: it is handed over again.
		f.depot.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			if out.Content.(provider.Media).ID == "upload.1" {
				return provider.Receipt{}, &provider.Rejected{Code: "131053", Message: "no such file"}
			}
			return f.depot.net.taken(out), nil
		})
		req := sendFile(ref, provider.Image, kept.ID)
		req.Wait = timeout
		f.send(t, req)
		f.until(t, "it is sent", func() bool { return f.messages(t, ref, "111")[0].Status == "SENDING" })
		require.Len(t, f.depot.taken, 2)
		f.depot.net.script(nil)
		f.clock.Advance(30 * 24 * time.Hour)
		f.send(t, sendFile(ref, provider.Image, kept.ID))
		require.Len(t, f.depot.taken, 3, "its time was over")
	})
}

// TestADamagedFile changes a byte of a stored file: it is not sent, and the message says
// why. It is not served either.
func TestADamagedFile(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body := picture(t, 8, 6)
		kept := f.keep(t, ref, "cat.png", "image/png", body)
		body[len(body)-1] ^= 1
		var found []string
		require.NoError(t, filepath.WalkDir(f.dir, func(path string, _ os.DirEntry, err error) error {
			if filepath.Base(path) == kept.ID {
				found = append(found, path)
			}
			return err
		}))
		require.Len(t, found, 1)
		require.NoError(t, os.WriteFile(found[0], body, 0o600))
		_, err := f.acc.Send(t.Context(), sendFile(ref, provider.Image, kept.ID))
		require.ErrorContains(t, err, "The file is damaged in the store of this server.")
		require.Equal(t, "FAIL", f.messages(t, ref, "111")[0].Status)
		require.Empty(t, f.depot.taken)
		w := httptest.NewRecorder()
		f.lib.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+f.lib.Link(kept.ID, "cat.png"), http.NoBody))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
	})
}

func TestFilesThatCannotBeSent(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		image := f.keep(t, ref, "", "", picture(t, 8, 6)).ID
		long := f.keep(t, ref, "", "", append(picture(t, 8, 6), make([]byte, 2<<10)...)).ID
		stereo := f.keep(t, ref, "", "audio/ogg", opus(2)).ID
		other, err := f.svc.For("other").References().Create(t.Context(), messaging.NewReference{Name: "x", Type: sandbox.Kind})
		require.NoError(t, err)
		foreign, err := f.svc.For("other").SaveMedia(t.Context(), other.ID, messaging.NewMedia{Body: strings.NewReader("x")})
		require.NoError(t, err)
		for name, c := range map[string]struct {
			content provider.Media
			field   string
		}{
			"nothing":        {provider.Media{Kind: provider.Image}, "message.mediaId"},
			"both":           {provider.Media{Kind: provider.Image, StoredID: image, URL: "https://example.org/x"}, "message.url"},
			"another family": {provider.Media{Kind: provider.Audio, StoredID: image}, "message.mediaId"},
			"too long":       {provider.Media{Kind: provider.Image, StoredID: long}, "message.mediaId"},
			"no address":     {provider.Media{Kind: provider.Image, URL: "file:///etc/passwd"}, "message.url"},
			"user info":      {provider.Media{Kind: provider.Image, URL: "https://u:p@example.org/"}, "message.url"},
			"voice":          {provider.Media{Kind: provider.Image, StoredID: image, Voice: true}, "message.voice"},
			"caption":        {provider.Media{Kind: provider.Audio, StoredID: stereo, Caption: "x"}, "message.caption"},
			"kind":           {provider.Media{Kind: provider.Placeholder, StoredID: image}, "message.type"},
		} {
			req := sendFile(ref, "", "")
			req.Content = c.content
			_, err := f.acc.Send(t.Context(), req)
			var bad *messaging.Invalid
			require.ErrorAs(t, err, &bad, name)
			require.Equal(t, c.field, bad.Field, name)
			require.NotContains(t, bad.Message, "hush-hush")
		}
		for _, id := range []string{"hush-hush", foreign.ID} {
			req := sendFile(ref, "", "")
			req.Content = provider.Media{Kind: provider.Document, StoredID: id}
			_, err := f.acc.Send(t.Context(), req)
			var missing *messaging.Missing
			require.ErrorAs(t, err, &missing)
			require.ErrorIs(t, err, messaging.ErrNotFound)
			require.Equal(t, messaging.Missing{Field: "message.mediaId", Message: "must be the id of a file of this account"}, *missing)
		}
		require.Empty(t, f.depot.net.attempts())
		require.Zero(t, count(t, f.db, `SELECT count(*) FROM messaging_message`), "nothing was stored")
	})
}

// TestVoiceNotes sends one as it is, and has another converted by what calls
// itself ffmpeg.
func TestVoiceNotes(t *testing.T) { //nolint:paralleltest // it changes the PATH
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	f := setupMedia(t, testkit.Open(t, testkit.SQLiteURL(t)), nil, false)
	ref := f.reference(t, filesKind)
	note := func(id string) messaging.SendRequest {
		req := sendFile(ref, provider.Audio, id)
		req.Content = provider.Media{Kind: provider.Audio, StoredID: id, Voice: true}
		return req
	}
	mono, stereo := f.keep(t, ref, "", "audio/ogg", opus(1)), f.keep(t, ref, "", "audio/ogg", opus(2))
	require.Equal(t, "audio/ogg; codecs=opus", mono.MimeType)
	require.Equal(t, "SENDING", f.send(t, note(mono.ID)).Status)
	_, err := f.acc.Send(t.Context(), note(stereo.ID))
	var bad *messaging.Invalid
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "message.voice", bad.Field)

	converted := filepath.Join(bin, "converted.ogg")
	require.NoError(t, os.WriteFile(converted, opus(1), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte("#!/bin/sh\nexec /bin/cat "+converted+"\n"), 0o700))
	require.Equal(t, "SENDING", f.send(t, note(stereo.ID)).Status)
	require.Equal(t, opus(1), f.depot.taken[1])
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	another := f.keep(t, ref, "", "audio/ogg", opus(2))
	_, err = f.acc.Send(t.Context(), note(another.ID))
	var refused *messaging.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "voice", refused.ProviderCode)
}

// TestASandboxContactSendsFiles writes files of the store and of the web.
func TestASandboxContactSendsFiles(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, sandbox.Kind)
		body := picture(t, 8, 6)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, "/cat.png", http.StatusFound)
				return
			}
			_, _ = w.Write(body)
		}))
		t.Cleanup(web.Close)
		kept := f.keep(t, ref, "cat.png", "image/png", body)
		phone := sandbox.Phone{Inbox: f.svc, Reference: ref, Name: "ana"}
		for i, m := range []provider.Media{{StoredID: kept.ID}, {URL: web.URL + "/moved"}, {URL: "http://10.1.2.3/private"}} {
			m.Kind = provider.Image
			id, err := phone.Write(t.Context(), m)
			require.NoError(t, err)
			f.until(t, "its event goes out", func() bool { return len(f.events(t)) == i+1 })
			got := f.message(t, ref, "ana@sandbox", id)
			if i == 2 {
				require.Equal(t, "media_unavailable", got.Error.Code)
				continue
			}
			require.Nil(t, got.Error)
			_, served := f.served(t, got.FileURL)
			require.Equal(t, body, served)
			require.NotEqual(t, kept.FileURL, got.FileURL, "it is the message's own")
		}
	})
}

func TestUploadsThatBreakOff(t *testing.T) {
	t.Parallel()
	f := setupMedia(t, testkit.Open(t, testkit.SQLiteURL(t)), nil, true)
	ref := f.reference(t, filesKind)
	kept := f.keep(t, ref, "cat.png", "image/png", picture(t, 2, 2))
	_, err := f.acc.SaveMedia(t.Context(), ref, messaging.NewMedia{Body: io.MultiReader(strings.NewReader("x"), &broken{})})
	require.ErrorIs(t, err, errBroken)
	require.NoError(t, f.svc.RemoveFiles(t.Context()))
	require.Equal(t, 1, count(t, f.db, `SELECT count(*) FROM messaging_media`), "what broke off is gone")
	_, err = f.acc.Media(t.Context(), kept.ID)
	require.NoError(t, err)
	_, err = f.svc.For("other").Media(t.Context(), kept.ID)
	require.ErrorIs(t, err, messaging.ErrNotFound)
}

var errBroken = errors.New("broken")

type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, errBroken }

// TestFilesGoWithRetention keeps a file for as long as a message needs it.
func TestFilesGoWithRetention(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupMedia(t, db, nil, false, func(o *messaging.Options) { o.Retention = 24 * time.Hour })
		ref := f.reference(t, filesKind)
		body := picture(t, 2, 2)
		f.depot.put("file", body, nil)
		f.receive(t, ref, photo("image", "file", body))
		f.until(t, "it is fetched", func() bool { return len(f.events(t)) == 1 })
		received := f.payload(t).FileURL
		sent, idle := f.keep(t, ref, "a.png", "", body), f.keep(t, ref, "b.png", "", body)
		f.clock.Advance(20 * time.Hour)
		f.send(t, sendFile(ref, provider.Image, sent.ID))
		f.clock.Advance(20 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.NoError(t, f.svc.RemoveFiles(t.Context()))
		for link, status := range map[string]int{
			received: http.StatusNotFound, idle.FileURL: http.StatusNotFound, sent.FileURL: http.StatusOK,
		} {
			code, _ := f.served(t, link)
			require.Equal(t, status, code)
		}
		f.clock.Advance(20 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.NoError(t, f.svc.RemoveFiles(t.Context()))
		code, _ := f.served(t, sent.FileURL)
		require.Equal(t, http.StatusNotFound, code)
	})
}
