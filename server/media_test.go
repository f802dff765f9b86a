package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// keeping lets a server keep files.
func keeping(t testing.TB) func(*server.Config) {
	folder, err := media.OpenFolder(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close()) })
	return func(c *server.Config) { c.Media, c.Exclusive = folder, true }
}

// onDatabasesWithMedia is onDatabases with files.
func onDatabasesWithMedia(t *testing.T, fn func(t *testing.T, f fixture)) {
	t.Helper()
	onDatabases(t, func(c *server.Config) { keeping(t)(c) }, fn)
}

// picture is a PNG of a size.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// part is one of a form; a file has a name.
type part struct{ field, name, mime, body string }

// upload posts a form.
func (c client) upload(t *testing.T, parts ...part) answer {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, p.field)
		if p.name != "" {
			disposition += fmt.Sprintf(`; filename=%q`, p.name)
			h.Set("Content-Type", p.mime)
		}
		h.Set("Content-Disposition", disposition)
		w, err := form.CreatePart(h)
		require.NoError(t, err)
		_, err = io.WriteString(w, p.body)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	return c.call(t, "POST", "/media", b.String(), "Content-Type", form.FormDataContentType())
}

// TestSaveMedia keeps a file in either order of the form, and serves it.
func TestSaveMedia(t *testing.T) {
	t.Parallel()
	onDatabasesWithMedia(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		body := string(picture(t, 40, 30))
		file, reference := part{"file", "a b.png", "image/png", body}, part{field: "reference", body: fmt.Sprint(ref)}
		for _, parts := range [][]part{{file, reference}, {reference, file}} {
			out := ana.upload(t, parts...).json(201)
			require.Equal(t, "image/png", out["mimetype"])
			require.EqualValues(t, len(body), out["fileLength"])
			require.NotEmpty(t, out["mediaId"])
			link := out["fileUrl"].(string)
			require.Regexp(t, `^files/[0-9a-f-]+/[^/]+/a%20b\.png$`, link)
			got := f.do(t, "GET", "/"+link, "")
			require.Equal(t, http.StatusOK, got.Code)
			require.Equal(t, body, got.Body.String())
			require.Equal(t, "image/png", got.Header().Get("Content-Type"))
			require.Equal(t, "private, no-cache", got.Header().Get("Cache-Control"))
			require.Equal(t, http.StatusPartialContent, f.do(t, "GET", "/"+link, "", "Range", "bytes=0-3").Code)
			head := f.do(t, "HEAD", "/"+link, "")
			require.Equal(t, fmt.Sprint(len(body)), head.Header().Get("Content-Length"))
			require.Empty(t, head.Body.String())
		}
		f.do(t, "GET", "/files/no/such/link", "").problem(404, "not_found")
	})
}

// TestSaveMediaRefused lists what is no upload.
func TestSaveMediaRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, keeping(t))
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	ref := part{field: "reference", body: fmt.Sprint(ana.sandbox(t))}
	file := part{"file", "x.png", "image/png", string(picture(t, 2, 2))}
	for name, c := range map[string]struct {
		parts    []part
		location string
	}{
		"no file":         {[]part{ref}, "body.file"},
		"no reference":    {[]part{file}, "body.reference"},
		"bad reference":   {[]part{{field: "reference", body: "hush-hush"}, file}, "body.reference"},
		"two files":       {[]part{ref, file, file}, "body.file"},
		"two references":  {[]part{ref, ref, file}, "body.reference"},
		"empty":           {[]part{ref, {"file", "x.png", "image/png", ""}}, "body.file"},
		"another type":    {[]part{ref, {"file", "x.png", "image/png", "%PDF-1.4 hush-hush"}}, "body.file"},
		"another part":    {[]part{ref, file, {field: "more", body: "x"}}, "body"},
		"early and empty": {[]part{{"file", "x.png", "image/png", ""}, ref}, "body.file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ana.upload(t, c.parts...)
			p := a.problem(422, "validation")
			require.Equal(t, c.location, p.Errors[0].Location)
			require.NotContains(t, a.Body.String(), "hush-hush")
		})
	}
	ben.upload(t, ref, file).problem(404, "not_found")
	ana.call(t, "POST", "/media", `{}`).problem(415, "unsupported_media_type")
	ana.call(t, "POST", "/media", "--x\r\ncut", "Content-Type", "multipart/form-data; boundary=x").problem(400, "validation")
	f.do(t, "POST", "/media", "").problem(401, "unauthorized")
	large := part{"file", "x", "", string(make([]byte, 100<<20+1))}
	ana.upload(t, ref, large).problem(413, "payload_too_large")
	ana.upload(t, large, ref).problem(413, "payload_too_large")
	none := setup(t, nil).as(t, "ana")
	none.upload(t, part{field: "reference", body: fmt.Sprint(none.sandbox(t))}, file).problem(422, "unsupported")
}

// keepingOnCloud is a user with a number of a fake network, on a server that keeps
// files, is called back, and reaches what the test serves.
func keepingOnCloud(t *testing.T, db *sqlx.DB, number graphtest.Number) (client, int, *graphtest.Server) {
	t.Helper()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{number}})
	t.Cleanup(fake.Close)
	f := working(t, setupOn(t, db, func(c *server.Config) {
		keeping(t)(c)
		c.GraphURL, c.WebhookAllow = fake.URL, []string{"127.0.0.1"}
	}))
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	fake.SetCallback(web.URL + "/webhooks/provider")
	ana := f.as(t, "ana")
	return ana, ana.reference(t, reference(number)), fake
}

// TestCloudMedia receives files that come well, cut, from an address that has
// expired, and with a wrong digest.
func TestCloudMedia(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		number := cloudNumber("870")
		ana, ref, fake := keepingOnCloud(t, db, number)
		body := picture(t, 40, 30)
		sum := sha256.Sum256(body)
		for name, c := range map[string]struct {
			fault graphtest.FileFault
			code  string
		}{
			"well":       {},
			"cut":        {fault: graphtest.FileFault{Cuts: []int{10, 20}}},
			"no ranges":  {fault: graphtest.FileFault{Cuts: []int{10}, NoRanges: true}},
			"expired":    {fault: graphtest.FileFault{Expired: 1}},
			"wrong hash": {graphtest.FileFault{WrongHash: true}, "media_mismatch"},
			"gone":       {graphtest.FileFault{Gone: true}, "media_unavailable"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				id := fake.Files.Put("", "image/png", body)
				fake.Files.Corrupt(id, c.fault)
				from := fmt.Sprintf("1650555%04d", len(name)*100+int(name[0]))
				_, err := fake.Write(t.Context(), graphtest.Inbound{From: from, Type: "image", Body: map[string]any{
					"id": id, "mime_type": "image/png", "sha256": base64.StdEncoding.EncodeToString(sum[:]), "caption": "look",
				}})
				require.NoError(t, err)
				var m map[string]any
				ana.until(t, func() bool {
					out := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, from), "").json(200)
					m = out["items"].([]any)[0].(map[string]any)
					return m["fileUrl"] != "" || m["error"] != nil
				})
				require.Equal(t, "look", m["caption"])
				if c.code != "" {
					require.Empty(t, m["fileUrl"])
					require.Equal(t, c.code, m["error"].(map[string]any)["code"])
					return
				}
				require.Nil(t, m["error"])
				require.EqualValues(t, 40, m["width"])
				require.Equal(t, string(body), ana.do(t, "GET", "/"+m["fileUrl"].(string), "").Body.String())
			})
		}
	})
}

// TestCloudSendsMedia sends a kept file twice, for which it is uploaded once.
func TestCloudSendsMedia(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		number := cloudNumber("871")
		ana, ref, fake := keepingOnCloud(t, db, number)
		_, err := fake.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		body := string(picture(t, 40, 30))
		kept := ana.upload(t, part{"file", "cat.png", "image/png", body}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)
		for n := range 2 {
			out := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, fmt.Sprintf(`{"type":"image","mediaId":%q,"caption":"look"}`, kept["mediaId"]))).json(200)
			m := out["message"].(map[string]any)
			require.Equal(t, "SENDING", m["status"])
			require.Equal(t, kept["fileUrl"], m["fileUrl"])
			shown, err := fake.WaitShown(t.Context(), contact, n+1)
			require.NoError(t, err)
			require.Equal(t, "image", shown[n].Type)
			require.Len(t, fake.Files.All(), 1)
			require.Equal(t, fake.Files.All()[0].ID, shown[n].FileID)
			require.Equal(t, body, string(fake.Files.All()[0].Data))
		}
		p := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, fmt.Sprintf(`{"type":"audio","mediaId":%q}`, kept["mediaId"]))).problem(422, "validation")
		require.Equal(t, "body.message.mediaId", p.Errors[0].Location)
	})
}

// TestSandboxMedia sends a file to a simulated contact, who sends it back.
func TestSandboxMedia(t *testing.T) {
	t.Parallel()
	onDatabasesWithMedia(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		path := fmt.Sprintf("/sandbox/%d/messages", ref)
		body := string(picture(t, 40, 30))
		kept := ana.upload(t, part{"file", "cat.png", "image/png", body}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", fmt.Sprintf(`{"type":"document","mediaId":%q}`, kept["mediaId"]))).json(200)
		shown := ana.call(t, "GET", path+"?from=ana", "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, "document", shown["type"])
		require.Equal(t, kept["fileUrl"], shown["fileUrl"])
		require.Equal(t, "in", shown["direction"])
		ana.call(t, "POST", path, fmt.Sprintf(`{"from":"ana","type":"image","mediaId":%q,"caption":"back"}`, kept["mediaId"])).json(201)
		var m map[string]any
		ana.until(t, func() bool {
			out := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref), "").json(200)
			m = out["items"].([]any)[0].(map[string]any)
			return m["fileUrl"] != ""
		})
		require.Equal(t, "back", m["caption"])
		require.Equal(t, body, f.do(t, "GET", "/"+m["fileUrl"].(string), "").Body.String())
		p := ana.call(t, "POST", path, `{"from":"ana","type":"image","mediaId":"hush-hush"}`).problem(404, "not_found")
		require.Equal(t, "body.mediaId", p.Errors[0].Location)
	})
}
