package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// typesWorld is a server with a reference, the network on its other side
// and an integrator, which talk to each other over HTTP.
type typesWorld struct {
	ana  client
	base string // of the server
	ref  int
	net  *graphtest.Server
	hook *integrator
	web  string // where the files of the test are served
}

// startTypes is one with a Cloud API reference.
func startTypes(t *testing.T, db *sqlx.DB) *typesWorld {
	t.Helper()
	l := cloudNumber("900")
	return startWorld(t, db, &graphOptions{Numbers: []graphtest.Number{l}}, reference(l))
}

// startWorld is one with the reference that this body makes.
func startWorld(t *testing.T, db *sqlx.DB, o *graphOptions, ref string) *typesWorld {
	t.Helper()
	w := &typesWorld{net: startGraph(t, o), hook: startIntegrator(t)}
	f := working(t, setupOn(t, db, func(c *server.Config) {
		keeping(t)(c)
		c.GraphURL, c.WebhookAllow = w.net.URL, []string{"127.0.0.1"}
	}))
	for _, s := range []struct {
		url     *string
		handler http.Handler
	}{{&w.base, f}, {&w.web, http.FileServer(http.Dir("testdata/types/files"))}} {
		running := httptest.NewServer(s.handler)
		t.Cleanup(running.Close)
		*s.url = running.URL
	}
	w.net.SetCallback(w.base + "/webhooks/provider")
	w.ana = f.as(t, "ana")
	w.ref = w.ana.reference(t, ref)
	w.hook.listen(t, w.ana, w.ref, "/hook", "")
	return w
}

// request asks the server over HTTP.
func (w *typesWorld) request(t *testing.T, method, path, body string) (status int, out map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.base+patient(method, path), strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.ana.token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out), string(raw))
	return res.StatusCode, out
}

// file is one of the test's.
func (w *typesWorld) file(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "types", "files", name))
	require.NoError(t, err)
	return body
}

// webhookOf is what the integrator got of one chat.
type webhookOf struct {
	Event   string         `json:"event"`
	Payload map[string]any `json:"payload"`
}

// hooks returns the webhooks of a chat once there are n, each verified and in
// order.
func (w *typesWorld) hooks(t *testing.T, jid string, n int) []webhookOf {
	t.Helper()
	mine := regexp.MustCompile(`"remoteJid":"` + regexp.QuoteMeta(jid) + `"`)
	var got []delivered
	w.hook.until(t, func() bool {
		got = w.hook.matching(mine.Match)
		return len(got) >= n
	})
	require.Len(t, got, n)
	w.hook.verify(t, got)
	out := make([]webhookOf, n)
	for i, d := range got {
		out[i] = webhookOf{d.header.Get("X-Trunkline-Event"), d.json(t)}
		require.Equal(t, fmt.Sprint(i+1), d.header.Get("X-Trunkline-Sequence"))
		fitsInterface(t, out[i])
		w.download(t, out[i].Payload)
	}
	return out
}

// download gets the attachment of a payload, if it has one, which must be as
// long as the payload says.
func (w *typesWorld) download(t *testing.T, payload map[string]any) {
	t.Helper()
	if link, _ := payload["fileUrl"].(string); link != "" {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/"+link, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, fmt.Sprint(payload["fileLength"]), fmt.Sprint(len(body)))
	}
}

// The types of members in payloads as the interface has them.
var (
	commonMembers = map[string]any{
		"reference": 0.0, "ref": 0.0, "remoteJid": "", "chatId": "", "mine": true, "id": "", "pushName": "", "verifiedBizName": "", "messageTimestamp": 0.0, "status": "",
	}
	membersOfType = map[string]map[string]any{
		"text":     {"text": ""},
		"image":    {"mimetype": "", "fileLength": 0.0, "height": 0.0, "width": 0.0, "jpegThumbnail": "", "caption": "", "fileUrl": ""},
		"video":    {"mimetype": "", "fileLength": "", "seconds": 0.0, "height": 0.0, "width": 0.0, "jpegThumbnail": "", "caption": "", "fileUrl": ""},
		"document": {"mimetype": "", "title": "", "fileLength": "", "pageCount": 0.0, "jpegThumbnail": "", "fileName": "", "caption": "", "fileUrl": ""},
		"audio":    {"mimetype": "", "fileLength": "", "seconds": 0.0, "waveform": "", "fileUrl": ""},
	}
	// extraMembersOf events are there only when they apply.
	extraMembersOf = map[string][]string{
		"message": append(sendMembers, extraMembers...),
		"status":  append(sendMembers, "error"),
	}
	sendMembers  = []string{"requestId", "clientId"}
	extraMembers = []string{
		"sticker", "location", "contacts", "reply", "reaction", "order", "poll", "form", "unsupported", "participant", "context", "referral", "edited", "revoked", "error", "template",
	}
)

// fitsInterface holds a payload against the interface whatever its golden says:
// every member of its type is there, of the type that the interface gives it,
// and no other.
func fitsInterface(t *testing.T, h webhookOf) {
	t.Helper()
	want := map[string]any{}
	for name, zero := range commonMembers {
		want[name] = zero
	}
	if h.Event == "status" {
		want["at"] = 0.0
	}
	if h.Event == "message" {
		own := membersOfType[fmt.Sprint(h.Payload["type"])]
		require.NotNil(t, own, "%v is no type", h.Payload["type"])
		want["type"] = ""
		for name, zero := range own {
			want[name] = zero
		}
	}
	for name, zero := range want {
		require.IsType(t, zero, h.Payload[name], "%s of %v", name, h.Payload)
	}
	for name := range h.Payload {
		if _, known := want[name]; !known {
			require.Contains(t, extraMembersOf[h.Event], name)
		}
	}
}

var (
	ownIDs    = regexp.MustCompile(`out-[0-9a-f-]{36}`)
	fileLinks = regexp.MustCompile(`files/[0-9a-f-]{36}/[^/"]+/`)
)

// golden compares what happened with the file of that name. Ids, times and
// addresses that are new in every run are replaced by their names.
func golden(t *testing.T, name string, happened any, names map[string]string) {
	t.Helper()
	raw, err := json.Marshal(happened)
	require.NoError(t, err)
	text := fileLinks.ReplaceAllString(ownIDs.ReplaceAllString(string(raw), "<own id>"), "files/<id>/<signature>/")
	for is, called := range names {
		if is != "" {
			text = strings.ReplaceAll(text, is, called)
		}
	}
	var tree any
	require.NoError(t, json.Unmarshal([]byte(text), &tree))
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(unvaried(t, tree)))
	path := filepath.Join("testdata", "types", strings.ReplaceAll(name, " ", "-")+".json")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

// unvaried replaces the times of now, and pictures that are pictures.
func unvaried(t *testing.T, v any) any {
	t.Helper()
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = unvaried(t, x[i])
		}
	case map[string]any:
		for name, value := range x {
			s, _ := value.(string)
			switch {
			case (name == "messageTimestamp" || name == "at") && fits("<now>", value):
				x[name] = "<now>"
			case name == "jpegThumbnail" && s != "":
				picture, err := base64.StdEncoding.DecodeString(s)
				require.NoError(t, err)
				_, err = jpeg.Decode(bytes.NewReader(picture))
				require.NoError(t, err)
				x[name] = "<jpeg>"
			default:
				x[name] = unvaried(t, value)
			}
		}
	}
	return v
}
