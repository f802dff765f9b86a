package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// hum makes three seconds of sound in stereo, as a file of the given type.
func hum(t *testing.T, ffmpeg, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), ffmpeg, "-nostdin", "-loglevel", "error",
		"-f", "lavfi", "-i", "sine=frequency=440:duration=3", "-ac", "2", path).CombinedOutput()
	require.NoError(t, err, string(out))
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return body
}

// sound is what ffprobe says of an audio file.
type sound struct {
	Codec    string `json:"codec_name"`
	Channels int    `json:"channels"`
	Rate     string `json:"sample_rate"`
}

func listen(t *testing.T, ffprobe string, file []byte) sound {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ffprobe, "-loglevel", "error", "-show_streams", "-of", "json", "-")
	cmd.Stdin = bytes.NewReader(file)
	raw, err := cmd.Output()
	require.NoError(t, err)
	var out struct{ Streams []sound }
	require.NoError(t, json.Unmarshal(raw, &out))
	require.Len(t, out.Streams, 1)
	return out.Streams[0]
}

// TestVoiceNotesAreConverted sends what ffmpeg makes as voice notes: from the
// store, and by its address.
func TestVoiceNotesAreConverted(t *testing.T) {
	t.Parallel()
	ffmpeg, ffprobe := testkit.Program(t, "ffmpeg"), testkit.Program(t, "ffprobe")
	ana, ref, fake := keepingOnCloud(t, testkit.Open(t, testkit.SQLiteURL(t)), cloudNumber("872"))
	_, err := fake.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
	require.NoError(t, err)
	files := map[string][]byte{"a.wav": hum(t, ffmpeg, "a.wav"), "a.mp3": hum(t, ffmpeg, "a.mp3"), "a.m4a": hum(t, ffmpeg, "a.m4a")}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(files[r.URL.Path[1:]]) }))
	t.Cleanup(web.Close)
	sent := 0
	for _, c := range []struct{ name, by string }{{"a.wav", "mediaId"}, {"a.mp3", "mediaId"}, {"a.m4a", "mediaId"}, {"a.mp3", "url"}} {
		source := web.URL + "/" + c.name
		if c.by == "mediaId" {
			source = ana.upload(t, part{"file", c.name, "", string(files[c.name])}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)["mediaId"].(string)
		}
		m := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, fmt.Sprintf(`{"type":"audio",%q:%q,"voice":true}`, c.by, source))).json(200)["message"].(map[string]any)
		sent++
		shown, err := fake.WaitShown(t.Context(), contact, sent)
		require.NoError(t, err)
		require.Equal(t, "SENDING", m["status"], c)
		require.Contains(t, string(shown[sent-1].Body), `"voice":true`)
		for _, f := range fake.Files.All() {
			if f.ID == shown[sent-1].FileID {
				require.Equal(t, "audio/ogg; codecs=opus", f.MIME)
				require.Equal(t, sound{"opus", 1, "48000"}, listen(t, ffprobe, f.Data), c)
			}
		}
		require.Len(t, fake.Files.All(), sent)
	}
}
