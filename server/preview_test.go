package server_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// truncate is a video of a second.
func truncate(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clip.mp4")
	out, err := exec.CommandContext(t.Context(), testkit.Program(t, "ffmpeg"), "-nostdin", "-loglevel", "error",
		"-f", "lavfi", "-i", "testsrc=size=96x64:duration=1:rate=5", path).CombinedOutput()
	require.NoError(t, err, string(out))
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return body
}

// letter is a document of Office with a title.
func letter(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{
		{"[Content_Types].xml", "<Types/>"},
		{"docProps/core.xml", `<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Our offer</dc:title></p>`},
		{"docProps/thumbnail.png", string(picture(t, 20, 30))},
	} {
		w, err := z.Create(f[0])
		require.NoError(t, err)
		_, err = w.Write([]byte(f[1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestPreviews: where the network gives no preview, what the server finds in the
// file is in the record and the payload, of what arrives and what is sent.
func TestPreviews(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := cloudNumber("880")
		fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{l}})
		t.Cleanup(fake.Close)
		f := working(t, setupOn(t, db, func(c *server.Config) {
			keeping(t)(c)
			c.WithPrograms()
			c.GraphURL, c.WebhookAllow = fake.URL, []string{"127.0.0.1"}
		}))
		web := httptest.NewServer(f)
		t.Cleanup(web.Close)
		fake.SetCallback(web.URL + "/webhooks/provider")
		ana := f.as(t, "ana")
		ref := ana.reference(t, reference(l))
		const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
		files := map[string]struct {
			mime string
			body []byte
		}{"video": {"video/mp4", truncate(t)}, "audio": {"audio/wav", hum(t, testkit.Program(t, "ffmpeg"), "a.wav")}, "document": {word, letter(t)}}
		for kind, file := range files {
			_, err := fake.Write(t.Context(), graphtest.Inbound{From: contact, Type: kind, Body: wire{"id": fake.Files.Put("", file.mime, file.body), "mime_type": file.mime}})
			require.NoError(t, err)
		}
		found := func(m map[string]any) bool {
			switch m["type"] {
			case "video":
				return m["jpegThumbnail"] != ""
			case "audio":
				bars, err := base64.StdEncoding.DecodeString(fmt.Sprint(m["waveform"]))
				return err == nil && len(bars) == 64
			}
			return m["title"] == "Our offer" && m["jpegThumbnail"] != ""
		}
		messages := func() []any {
			a := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, contact), "")
			var out struct{ Items []any }
			if a.Code == http.StatusOK {
				require.NoError(t, json.Unmarshal(a.Body.Bytes(), &out))
			}
			return out.Items
		}
		ana.until(t, func() bool {
			n := 0
			for _, m := range messages() {
				if found(m.(map[string]any)) {
					n++
				}
			}
			return n == len(files)
		})
		for kind, file := range files {
			if kind == "audio" { // WhatsApp takes no WAV
				continue
			}
			id := ana.upload(t, part{"file", "a", file.mime, string(file.body)}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)["mediaId"]
			m := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, fmt.Sprintf(`{"type":%q,"mediaId":%q}`, kind, id))).json(200)["message"].(map[string]any)
			require.True(t, found(m), "%s %v", kind, m)
		}
	})
}
