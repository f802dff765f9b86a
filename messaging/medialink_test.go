package messaging_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// serving is the address of a file on the web, which comes once the gate is
// closed; nil: at once.
func serving(t testing.TB, body []byte, gate <-chan struct{}) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gate != nil {
			select {
			case <-gate:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/cat.png"
}

// sendLink is a send of a file by its address, for which nobody waits.
func sendLink(ref provider.ReferenceID, url string) messaging.SendRequest {
	req := sendFile(ref, "", "")
	req.Content = provider.Media{Kind: provider.Image, URL: url, Caption: "look"}
	req.Wait = 0
	return req
}

// payloads are what the sinks were told of own messages.
func (f *mediaFixture) payloads(t testing.TB) []messaging.MessagePayload {
	t.Helper()
	var out []messaging.MessagePayload
	for _, e := range f.sink.all(t) {
		var p messaging.MessagePayload
		require.NoError(t, json.Unmarshal(e.Payload, &p))
		out = append(out, p)
	}
	return out
}

// TestALinkIsSentAsItIs and its file is kept for the record.
func TestALinkIsSentAsItIs(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body := picture(t, 8, 6)
		url := serving(t, body, nil)
		req := sendLink(ref, url)
		req.Wait = timeout
		started := time.Now()
		answer := f.send(t, req)
		if answer.FileURL == "" { // the copy was slow
			require.GreaterOrEqual(t, time.Since(started), 2*time.Second, "the answer waits for it")
		}
		f.until(t, "its event goes out", func() bool { return len(f.payloads(t)) == 1 })
		out := f.depot.net.attempts()[0].Content.(provider.Media)
		require.Equal(t, url, out.URL)
		require.Nil(t, out.Open)
		require.Empty(t, f.depot.taken)

		p, m := f.payloads(t)[0], f.message(t, ref, "111", answer.ID)
		if answer.FileURL != "" {
			require.Equal(t, m.FileURL, answer.FileURL, "the answer has it as well")
		}
		require.Equal(t, "SENDING", m.Status)
		require.Nil(t, m.Error)
		require.Equal(t, messaging.MessagePayload{Head: m.Head, Body: m.Body}, p)
		_, served := f.served(t, m.FileURL)
		require.Equal(t, body, served)
		require.Equal(t, "image/png look", m.MimeType+" "+m.Caption)
		require.Equal(t, []int64{8, 6, int64(len(body))}, []int64{m.Width, m.Height, m.FileLength})
	})
}

// TestALinkInACallersTransaction is fetched once that is over.
func TestALinkInACallersTransaction(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		tx, err := f.db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		for range 2 {
			_, err = f.acc.SendTx(t.Context(), tx, sendLink(ref, serving(t, picture(t, 8, 6), nil)))
			require.NoError(t, err)
		}
		require.NoError(t, tx.Commit())
		f.until(t, "their events go out", func() bool { return len(f.payloads(t)) == 2 })
		for _, p := range f.payloads(t) {
			code, _ := f.served(t, p.FileURL)
			require.Equal(t, http.StatusOK, code)
		}
	})
}

// TestEventsWaitForTheFileOfALink holds an own message's event, and those
// behind it, until the file is here, but not the message.
func TestEventsWaitForTheFileOfALink(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		gate := make(chan struct{})
		f.send(t, sendLink(ref, serving(t, picture(t, 8, 6), gate)))
		sent := func() messaging.Message { return f.messages(t, ref, "111")[0] }
		f.until(t, "it is sent", func() bool { return sent().Status == "SENDING" })
		f.receive(t, ref, status(sent().ID, provider.StatusRead), text("next", "111", "Nice"))
		require.Empty(t, f.sink.all(t), "they wait")
		require.Empty(t, sent().FileURL)
		close(gate)
		f.until(t, "they go out", func() bool { return len(f.payloads(t)) == 3 })
		all := f.payloads(t)
		require.Equal(t, []string{"SENDING", "READ", "DELIVERED"}, []string{all[0].Status, all[1].Status, all[2].Status})
		require.NotEmpty(t, all[0].FileURL)
		require.Nil(t, all[0].Error)
	})
}

// TestALinkThatIsSlow holds events for twenty seconds and no longer.
func TestALinkThatIsSlow(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		gate := make(chan struct{})
		f.send(t, sendLink(ref, serving(t, picture(t, 8, 6), gate)))
		sent := func() messaging.Message {
			for _, m := range f.messages(t, ref, "111") {
				if m.Mine {
					return m
				}
			}
			return messaging.Message{}
		}
		f.until(t, "it is sent", func() bool { return sent().Status == "SENDING" })
		f.clock.Advance(20 * time.Second)
		f.until(t, "it goes out", func() bool { return len(f.payloads(t)) == 1 })
		require.Equal(t, "media_pending", f.payloads(t)[0].Error.Code)
		close(gate)
		f.until(t, "the record has it", func() bool { return sent().FileURL != "" })
		require.Nil(t, sent().Error)
	})
}

// TestLinksWithoutAFile says what is the matter with the file, and with the
// message.
func TestLinksWithoutAFile(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		f.send(t, sendLink(ref, "http://10.1.2.3/private.png"))
		f.until(t, "its event goes out", func() bool { return len(f.payloads(t)) == 1 })
		p := f.payloads(t)[0]
		require.Equal(t, []string{"SENDING", "", "media_unavailable"}, []string{p.Status, p.FileURL, p.Error.Code}, "the network has it all the same")
		f.receive(t, ref, status(p.ID, provider.StatusRead))
		m := f.message(t, ref, "111", p.ID)
		require.Equal(t, []string{"READ", "media_unavailable"}, []string{m.Status, m.Error.Code})

		f.depot.net.script(func(netctx, provider.Outbound, int) (provider.Receipt, error) {
			return provider.Receipt{}, &provider.Rejected{Code: "131053", Message: "cannot fetch it"}
		})
		_, err := f.acc.Send(t.Context(), sendLink(ref, serving(t, picture(t, 8, 6), nil)))
		if err != nil { // the refusal was faster than the copy
			require.ErrorContains(t, err, "cannot fetch it")
		}
		f.until(t, "its event goes out", func() bool { return len(f.payloads(t)) == 3 })
		p = f.payloads(t)[2]
		require.Equal(t, "FAIL", p.Status)
		require.NotEmpty(t, p.FileURL)
		require.Equal(t, "131053", p.Error.Code)
		require.Equal(t, p.Error, f.message(t, ref, "111", p.ID).Error)
	})
}

// TestVoiceNoteByItsAddress is converted like one of the store.
func TestVoiceNoteByItsAddress(t *testing.T) { //nolint:paralleltest // it changes the PATH
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	f := setupMedia(t, testkit.Open(t, testkit.SQLiteURL(t)), nil, false)
	ref := f.reference(t, filesKind)
	note := func(body []byte) messaging.SendRequest {
		req := sendLink(ref, serving(t, body, nil))
		req.Content = provider.Media{Kind: provider.Audio, URL: req.Content.(provider.Media).URL, Voice: true}
		return req
	}
	// An attempt whose copy is late is made again.
	sent := func(body []byte) (m messaging.Message) {
		_, err := f.acc.Send(t.Context(), note(body))
		if err != nil { // the refusal was faster
			requireCode(t, err, messaging.CodeProvider)
		}
		f.until(t, "it is sent, or refused", func() bool {
			m = f.messages(t, ref, "111")[0]
			return m.Status != "PENDING"
		})
		return m
	}
	require.Equal(t, "SENDING", sent(opus(1)).Status)
	require.Equal(t, [][]byte{opus(1)}, f.depot.taken, "it is one already")
	refused := sent(opus(2))
	require.Equal(t, "FAIL", refused.Status)
	require.Equal(t, "voice", refused.Error.Code)

	converted := filepath.Join(bin, "converted.ogg")
	require.NoError(t, os.WriteFile(converted, append(opus(1), "converted"...), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte("#!/bin/sh\nexec /bin/cat "+converted+"\n"), 0o700))
	m := sent(opus(2))
	require.Equal(t, "SENDING", m.Status)
	require.Equal(t, append(opus(1), "converted"...), f.depot.taken[1])
	_, served := f.served(t, m.FileURL)
	require.Equal(t, opus(2), served, "the record has what was given")
}
